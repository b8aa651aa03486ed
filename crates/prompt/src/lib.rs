//! Prompts as data: layered templates, typed variables, graphs, guardrails and a budget.
