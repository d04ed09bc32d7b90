// The page for people: what credits are worth, what an amount would bring, on which terms, and how to
// ask.

import { followEnquiry } from "./enquiry.js";
import { followEstimate } from "./estimate.js";
import { showHouse } from "./house.js";
import { showMethod, showRates } from "./rates.js";

let environment = "live";
const prefill = followEnquiry();
followEstimate(prefill, () => environment);
showMethod();
environment = await showRates();
await showHouse();
