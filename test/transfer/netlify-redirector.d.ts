declare module "netlify-redirector" {
  interface NetlifyRequest {
    readonly scheme: string;
    readonly host: string;
    readonly path: string;
    readonly query: string;
    getHeader(name: string): string;
    getCookie(name: string): string;
  }
  interface Rules {
    match(request: NetlifyRequest): { readonly status: number; readonly to: string } | null;
  }
  const redirector: { parsePlain(rules: string, options: object): Promise<Rules> };
  export default redirector;
}
