declare module "*.mmdb" {
  const path: string;
  export default path;
}
