/*
 * catalog: a body's intents made ready for matching: keywords folded, patterns
 * compiled.  Immutable once made.
 */
#ifndef INTENT_FILTER_CATALOG_H
#define INTENT_FILTER_CATALOG_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct rx;

/* Keywords in folded form, beside the catalog's own spelling. */
struct catalog_words {
	struct str *folded;
	const struct str *source;
	size_t n;
};

struct catalog_patterns {
	struct rx **rx;
	const struct str *source;
	size_t n;
};

struct catalog_slot {
	const struct wire_intent_slot *def;
	struct rx *rx; /* NULL: none */
};

struct catalog_intent {
	const struct wire_intent *def;
	struct catalog_words any, all, not ;
	struct catalog_patterns rx_any, rx_all;
	struct catalog_slot *slots; /* as many as def->n_slots */
};

struct catalog {
	struct arena *arena;
	struct catalog_intent *intents;
	size_t n;
	size_t bytes; /* memory it takes, roughly */
};

/*
 * catalog_new(json, out, err):
 * Compile the catalog whose message form (intent_catalog_report) is json.
 * RC_INVALID for what the schema refuses, an id that stands twice, or a bad
 * pattern: err then says where ("/intent_catalog/1/slots/0/regex").
 */
enum rc catalog_new(
    struct str json, struct catalog **out, struct wire_err *err) RC_CHECK;

/* catalog_free(c): NULL is allowed. */
void catalog_free(struct catalog *c);

#endif /* !INTENT_FILTER_CATALOG_H */
