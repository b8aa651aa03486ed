//! What agents may do: requests with intent and sensitivity, rules, escalation, observers.
