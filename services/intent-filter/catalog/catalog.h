/*
 * catalog: a terminal's intents compiled for matching: one automaton for all
 * words, compiled patterns, indexed examples.  Immutable after catalog_new().
 */
#ifndef INTENT_FILTER_CATALOG_CATALOG_H
#define INTENT_FILTER_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"
#include "wire/wire.h"

struct automaton;
struct example_index;
struct rx;

/* The list of the intent that a word of the automaton is in. */
enum catalog_list {
	CATALOG_ANY,
	CATALOG_VERB_OBJECT, /* the object of a keyword of CATALOG_ANY */
	CATALOG_ALL,
	CATALOG_NOT,
	CATALOG_EXAMPLE,             /* a whole example */
	CATALOG_EXAMPLE_VERB_OBJECT, /* the object of an example */
	CATALOG_RX_ANY, /* a text without which that pattern cannot match */
	CATALOG_RX_ALL
};

/* What a word of the automaton stands for. */
struct catalog_word {
	uint32_t intent, index; /* index in the list */
	enum catalog_list list;
	/* Of an object its verb: an action's value, or the word itself. */
	struct str verb;
};

struct catalog_pattern {
	struct rx *rx;
	bool has_literal;   /* requires one of its texts in the automaton */
	unsigned unmatched; /* groups of unmatched spans, as bits */
};

/* One of a slot's values: its phrase, and the JSON it stands for. */
struct catalog_value {
	struct str folded, json;
};

/* What the values of a slot are by its name and pattern. */
enum catalog_slot_trait {
	CATALOG_SLOT_HOLDS_WORDS = 1, /* text even if it is digits */
	CATALOG_SLOT_HOLDS_NUMBER = 2 /* numbers even if written in words */
};

struct catalog_slot {
	const struct wire_intent_slot *def;
	struct str key;               /* "name": as JSON */
	unsigned traits;              /* enum catalog_slot_trait */
	struct rx *rx;                /* NULL: none */
	struct catalog_value *values; /* the longest first */
	size_t n_values;
};

/* What the words, patterns, id and name of an intent are about. */
enum phrase_topic {
	PHRASE_OPENS = 1,
	PHRASE_CLOSES = 2,
	PHRASE_CANCELS = 4,
};

struct catalog_intent {
	const struct wire_intent *def;
	unsigned topics; /* enum phrase_topic */
	/* It may match without any of its words: always evaluated. */
	bool always;
	struct catalog_pattern *rx_any, *rx_all; /* as many as def has */
	struct catalog_slot *slots;              /* as many as def->n_slots */
	ptrdiff_t mode, color; /* the slots of these names; -1: none */
};

struct catalog {
	struct arena *arena;
	struct catalog_intent *intents;
	size_t n;
	struct automaton *words; /* hits are indices into meanings */
	struct catalog_word *meanings;
	size_t n_meanings, cap_meanings;
	uint32_t *always; /* indices of the intents that are always evaluated */
	size_t n_always;
	struct example_index *examples;
	bool has_examples;
	size_t bytes;                            /* approximate memory use */
	struct catalog_cache_entry *cache_entry; /* the cache's; NULL: none */
	uint64_t number; /* its cache has no other with it, ever; 0: in none */
};

/*
 * catalog_new(json, out, err):
 * Compile the catalog whose message form (intent_catalog_report) is json.
 * RC_INVALID for what the schema rejects, a duplicate id, or a bad pattern: err
 * then has its path ("/intent_catalog/1/slots/0/regex").  Any thread.
 */
enum rc catalog_new(
    struct str json, struct catalog **out, struct wire_err *err) RC_CHECK;

/* catalog_compile(intents, n, out, err): The same of a decoded request. */
enum rc catalog_compile(const struct wire_intent *intents, size_t n,
    struct catalog **out, struct wire_err *err) RC_CHECK;

/* catalog_free(c): NULL is allowed. */
void catalog_free(struct catalog *c);

#endif /* !INTENT_FILTER_CATALOG_CATALOG_H */
