// The page for people: what credits are worth, what an amount would bring, and how to ask.

import { followEnquiry } from "./enquiry.js";
import { followEstimate } from "./estimate.js";
import { showMethod, showRates } from "./rates.js";

const prefill = followEnquiry();
followEstimate(prefill);
showMethod();
await showRates();
