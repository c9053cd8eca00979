//! Front matter under a budget.
