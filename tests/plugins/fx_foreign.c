/* fx_foreign.c - a shared object that is no plugin; or one that misses a symbol. */
int fx_nothing(int x);
#ifdef FX_UNRESOLVED
int fx_symbol_that_nobody_has(int x);
int fx_nothing(int x) { return fx_symbol_that_nobody_has(x); }
#else
int fx_nothing(int x) { return x; }
#endif
