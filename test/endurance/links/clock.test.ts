import { testWrongClock } from "../../links/wrong-clock.ts";

testWrongClock("2");
