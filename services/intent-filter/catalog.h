/*
 * catalog: a body's intents made ready for matching: one automaton for all
 * words, patterns compiled, examples indexed.  Immutable once made.
 */
#ifndef INTENT_FILTER_CATALOG_H
#define INTENT_FILTER_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "says.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct automaton;
struct examples;
struct rx;

/* Which list of the intent a word of the automaton is of. */
enum catalog_list {
	CATALOG_ANY,
	CATALOG_PAIR, /* the object of a keyword of CATALOG_ANY */
	CATALOG_ALL,
	CATALOG_NOT,
	CATALOG_EXAMPLE,      /* a whole example */
	CATALOG_EXAMPLE_PAIR, /* the object of one */
	CATALOG_RX_ANY, /* a text without which that pattern cannot match */
	CATALOG_RX_ALL
};

/* What a word of the automaton stands for. */
struct catalog_word {
	uint32_t intent, index; /* index in the list */
	enum catalog_list list;
	/* Of a pair its verb: an action's value, or the word itself. */
	struct str verb;
};

struct catalog_pattern {
	struct rx *rx;
	bool has_literal; /* it needs one of its texts in the automaton */
	unsigned gaps;    /* groups that it does not spell out, as bits */
};

/* One of a slot's values: what is said, and the JSON it stands for. */
struct catalog_value {
	struct str folded, json;
};

struct catalog_slot {
	const struct wire_intent_slot *def;
	struct rx *rx;                /* NULL: none */
	struct catalog_value *values; /* the longest first */
	size_t n_values;
};

struct catalog_intent {
	const struct wire_intent *def;
	unsigned says; /* enum catalog_says */
	/* It may match where none of its words is: it is always looked at. */
	bool always;
	struct catalog_pattern *rx_any, *rx_all; /* as many as def has */
	struct catalog_slot *slots;              /* as many as def->n_slots */
};

struct catalog {
	struct arena *arena;
	struct catalog_intent *intents;
	size_t n;
	struct automaton *words; /* hits are indices into meanings */
	struct catalog_word *meanings;
	size_t n_meanings, cap_meanings;
	uint32_t *always; /* indices of the intents that are always looked at */
	size_t n_always;
	struct examples *examples;
	bool has_examples;
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
