//! The only way to a path that somebody named: tree handles, deny rules, atomic writes.
