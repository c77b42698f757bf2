/*
 * Compiling a catalog, once for all the commands that come with it.
 */
#include "catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "automaton.h"
#include "command.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "examples.h"
#include "gap.h"
#include "literal.h"
#include "pair.h"
#include "rx/rx.h"
#include "says.h"
#include "speech.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "zh/hanzi.h"

/* Compiled JIT code and bookkeeping of one pattern, for the memory ceiling. */
#define PATTERN_BYTES 4096
/* A shorter example says too little to be looked for inside a command. */
#define EXAMPLE_MIN        9
#define EXAMPLE_OBJECT_MIN 6

/* The catalog in the making. */
struct maker {
	struct catalog *c;
	struct wire_err *err;
	struct map *ids;
	uint32_t index; /* of the intent in hand */
	struct catalog_intent *in;
};

/* ---- what an intent is about ----------------------------------------------
 */

static void
note_says(struct maker *m, struct str folded)
{
	m->in->says |= says_of(folded);
}

/* An identifier as words: "cancel_alarm". */
static enum rc
note_says_id(struct maker *m, struct str id)
{
	struct str folded;
	char *p;
	size_t i;
	enum rc rc;

	if (id.p == NULL)
		return RC_OK;
	rc = command_fold(id, m->c->arena, &folded);
	if (rc != RC_OK)
		return rc;
	p = arena_alloc(m->c->arena, folded.n + 1);
	if (p == NULL)
		return RC_TOOBIG;
	for (i = 0; i < folded.n; i++)
		p[i] = folded.p[i] == '_' ? ' ' : folded.p[i];
	note_says(m, (struct str){ p, folded.n });
	return RC_OK;
}

/* ---- words and patterns ---------------------------------------------------
 */

static void
word_add(
    struct maker *m, struct str folded, enum catalog_list list, size_t index)
{
	struct catalog *c = m->c;

	if (c->n_meanings == c->cap_meanings) {
		c->cap_meanings =
		    c->cap_meanings == 0 ? 64 : 2 * c->cap_meanings;
		c->meanings = mem_realloc(
		    c->meanings, c->cap_meanings * sizeof(*c->meanings));
	}
	automaton_add(c->words, folded, (uint32_t)c->n_meanings);
	c->meanings[c->n_meanings++] =
	    (struct catalog_word){ m->index, (uint32_t)index, list, { 0 } };
}

/* "打开风扇" also means 把风扇开一下: its object, and which verb it needs. */
static void
pair_add(
    struct maker *m, struct str folded, enum catalog_list list, size_t index)
{
	struct str verb, object;

	if (!pair_split(folded, &verb, &object) ||
	    (list == CATALOG_EXAMPLE_PAIR && object.n < EXAMPLE_OBJECT_MIN))
		return;
	word_add(m, object, list, index);
	m->c->meanings[m->c->n_meanings - 1].verb = verb;
}

static enum rc
words_new(
    struct maker *m, const struct str *src, size_t n, enum catalog_list list)
{
	struct str folded;
	size_t i;
	enum rc rc;

	for (i = 0; i < n; i++) {
		rc = command_fold(src[i], m->c->arena, &folded);
		if (rc != RC_OK)
			return rc;
		word_add(m, folded, list, i);
		if (list == CATALOG_ANY)
			pair_add(m, folded, CATALOG_PAIR, i);
		if (list != CATALOG_NOT)
			note_says(m, folded);
	}
	return RC_OK;
}

/* Patterns see the simplified text, so they are simplified too. */
static enum rc
simplify(struct maker *m, struct str src, struct str *out)
{
	char *p = arena_alloc(m->c->arena, src.n + 1);

	if (p == NULL)
		return RC_TOOBIG;
	memcpy(p, src.p, src.n);
	(void)hanzi_simplify(p, src.n);
	*out = (struct str){ p, src.n };
	note_says(m, *out);
	return RC_OK;
}

static enum rc
pattern_new(struct maker *m, struct str src, struct rx **out)
{
	m->c->bytes += PATTERN_BYTES;
	return rx_new(src, RX_NOCASE, out, m->err->why, sizeof(m->err->why));
}

/* Marked, unless that makes it too large. */
static enum rc
pattern_new_marked(struct maker *m, struct str src, struct catalog_pattern *p)
{
	struct buf marked = BUF_INIT(RX_PATTERN_MAX);
	enum rc rc = RC_TOOBIG;

	p->gaps = gap_mark(src, &marked);
	if (p->gaps != 0 && buf_rc(&marked) == RC_OK)
		rc = pattern_new(m, buf_str(&marked), &p->rx);
	buf_free(&marked);
	if (rc == RC_OK)
		return RC_OK;
	p->gaps = 0;
	return pattern_new(m, src, &p->rx);
}

static void
pattern_literals(struct maker *m, struct catalog_pattern *p, struct str src,
    enum catalog_list list, size_t index)
{
	struct literals l;
	size_t i;

	literal_find(src, &l);
	p->has_literal = l.n > 0;
	for (i = 0; i < l.n; i++)
		word_add(m, (struct str){ l.text[i], l.len[i] }, list, index);
}

static enum rc
patterns_new(struct maker *m, const struct str *src, size_t n,
    enum catalog_list list, struct catalog_pattern **out)
{
	struct catalog_pattern *p = arena_alloc(m->c->arena, n * sizeof(*p));
	struct str simplified;
	size_t i;
	enum rc rc;

	if (p == NULL)
		return RC_TOOBIG;
	*out = p;
	for (i = 0; i < n; i++) {
		rc = simplify(m, src[i], &simplified);
		if (rc == RC_OK)
			rc = pattern_new_marked(m, simplified, &p[i]);
		if (rc != RC_OK) {
			snprintf(m->err->path, sizeof(m->err->path),
			    "/intent_catalog/%u/match/%s/%zu", m->index,
			    list == CATALOG_RX_ANY ? "regex_any" : "regex_all",
			    i);
			return rc;
		}
		pattern_literals(m, &p[i], simplified, list, i);
		if (!p[i].has_literal)
			m->in->always = true;
	}
	return RC_OK;
}

static int
value_cmp(const void *pa, const void *pb)
{
	const struct catalog_value *a = pa, *b = pb;

	return a->folded.n > b->folded.n ? -1 : a->folded.n < b->folded.n;
}

static enum rc
value_new(struct maker *m, const struct wire_tree_member *in,
    struct catalog_value *out)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &b };
	enum rc rc = command_fold(in->key, m->c->arena, &out->folded);

	if (rc == RC_OK)
		note_says(m, out->folded);
	wire_tree_put(in->value, &o);
	if (rc == RC_OK)
		rc = buf_rc(&b);
	if (rc == RC_OK) {
		out->json = arena_str(m->c->arena, buf_str(&b));
		rc = out->json.p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&b);
	return rc;
}

/* {"绿色": "green", …} */
static enum rc
values_new(struct maker *m, struct str json, struct catalog_slot *slot)
{
	struct wire_tree_member member;
	struct wire_tree *tree;
	bool more;
	enum rc rc;

	if (json.p == NULL)
		return RC_OK;
	rc = wire_tree_parse(json, &tree);
	if (rc != RC_OK)
		return rc;
	slot->values = arena_alloc(
	    m->c->arena, wire_tree_len(tree) * sizeof(*slot->values));
	if (slot->values == NULL)
		rc = RC_TOOBIG;
	for (more = wire_tree_first(tree, &member); more && rc == RC_OK;
	     more = wire_tree_next(tree, &member))
		rc = value_new(m, &member, &slot->values[slot->n_values++]);
	wire_tree_free(tree);
	if (rc == RC_OK && slot->n_values > 1)
		qsort(slot->values, slot->n_values, sizeof(*slot->values),
		    value_cmp);
	return rc;
}

/* Whether the verb itself is an argument. */
static bool
takes_action(const struct wire_intent_slot *def)
{
	size_t i;

	for (i = 0; i < def->n_from_entity_types; i++) {
		if (str_eq(def->from_entity_types[i], STR("action")))
			return true;
	}
	return false;
}

static enum rc
slots_new(struct maker *m)
{
	struct catalog_intent *in = m->in;
	struct str simplified;
	size_t i;
	enum rc rc;

	in->slots =
	    arena_alloc(m->c->arena, in->def->n_slots * sizeof(*in->slots));
	if (in->slots == NULL)
		return RC_TOOBIG;
	for (i = 0; i < in->def->n_slots; i++) {
		const struct wire_intent_slot *def = &in->def->slots[i];

		in->slots[i].def = def;
		if (takes_action(def))
			in->says |= CATALOG_OPENS | CATALOG_CLOSES;
		rc = values_new(m, def->values, &in->slots[i]);
		if (rc != RC_OK)
			return rc;
		if (def->regex.p == NULL)
			continue;
		rc = simplify(m, def->regex, &simplified);
		if (rc == RC_OK)
			rc = pattern_new(m, simplified, &in->slots[i].rx);
		if (rc != RC_OK) {
			snprintf(m->err->path, sizeof(m->err->path),
			    "/intent_catalog/%u/slots/%zu/regex", m->index, i);
			return rc;
		}
	}
	return RC_OK;
}

static enum rc
examples_of(struct maker *m, const struct wire_intent_match *match)
{
	struct str folded, core;
	size_t i;
	enum rc rc;

	if (match->n_examples > 0)
		m->c->has_examples = true;
	for (i = 0; i < match->n_examples; i++) {
		rc = command_fold(match->examples[i], m->c->arena, &folded);
		if (rc != RC_OK)
			return rc;
		if (folded.n >= EXAMPLE_MIN) {
			word_add(m, folded, CATALOG_EXAMPLE, i);
			pair_add(m, folded, CATALOG_EXAMPLE_PAIR, i);
		}
		core = speech_core(folded, m->c->arena);
		examples_add(m->c->examples, m->index, (uint32_t)i, folded);
		if (!str_eq(core, folded))
			examples_add(
			    m->c->examples, m->index, (uint32_t)i, core);
		note_says(m, folded);
	}
	return RC_OK;
}

/* ---- the whole ------------------------------------------------------------
 */

static enum rc
intent_new(struct maker *m, const struct wire_intent *def)
{
	const struct wire_intent_match *match = &def->match;
	struct catalog_intent *in = m->in;
	enum rc rc;

	in->def = def;
	rc = words_new(
	    m, match->keywords_any, match->n_keywords_any, CATALOG_ANY);
	if (rc == RC_OK)
		rc = words_new(
		    m, match->keywords_all, match->n_keywords_all, CATALOG_ALL);
	if (rc == RC_OK)
		rc = words_new(m, match->negative_keywords,
		    match->n_negative_keywords, CATALOG_NOT);
	if (rc == RC_OK)
		rc = patterns_new(m, match->regex_any, match->n_regex_any,
		    CATALOG_RX_ANY, &in->rx_any);
	if (rc == RC_OK)
		rc = patterns_new(m, match->regex_all, match->n_regex_all,
		    CATALOG_RX_ALL, &in->rx_all);
	if (rc == RC_OK)
		rc = slots_new(m);
	if (rc == RC_OK)
		rc = examples_of(m, match);
	if (rc == RC_OK)
		rc = note_says_id(m, def->id);
	if (rc == RC_OK)
		rc = note_says_id(m, def->name);
	if (match->n_entity_types_any + match->n_entity_types_all > 0)
		in->always = true;
	if (in->always)
		m->c->always[m->c->n_always++] = m->index;
	return rc;
}

static enum rc
compile(struct maker *m, const struct wire_intent *defs)
{
	struct catalog *c = m->c;
	enum rc rc;

	for (m->index = 0; m->index < c->n; m->index++) {
		m->in = &c->intents[m->index];
		if (map_put(m->ids, defs[m->index].id, c) != NULL) {
			snprintf(m->err->path, sizeof(m->err->path),
			    "/intent_catalog/%u/id", m->index);
			snprintf(m->err->why, sizeof(m->err->why),
			    "stands twice in the catalog");
			return RC_INVALID;
		}
		rc = intent_new(m, &defs[m->index]);
		if (rc == RC_TOOBIG && m->err->why[0] == '\0')
			snprintf(m->err->why, sizeof(m->err->why),
			    "the catalog is too large");
		if (rc != RC_OK)
			return rc;
	}
	automaton_build(c->words);
	examples_build(c->examples);
	return RC_OK;
}

enum rc
catalog_new(struct str json, struct catalog **out, struct wire_err *err)
{
	struct wire_intent_catalog_report msg;
	struct catalog *c = mem_zalloc(sizeof(*c));
	struct maker m = { .c = c, .err = err, .ids = map_new() };
	enum rc rc;

	*err = (struct wire_err){ 0 };
	c->arena = arena_new(WIRE_ARENA_MAX);
	c->words = automaton_new();
	c->examples = examples_new();
	rc = wire_decode(
	    &wire_intent_catalog_report_desc, json, c->arena, &msg, err);
	if (rc == RC_OK) {
		c->n = msg.n_intent_catalog;
		c->intents = arena_alloc(c->arena, c->n * sizeof(*c->intents));
		c->always = arena_alloc(c->arena, c->n * sizeof(*c->always));
		rc = c->intents == NULL || c->always == NULL
		    ? RC_TOOBIG
		    : compile(&m, msg.intent_catalog);
	}
	map_free(m.ids);
	if (rc != RC_OK) {
		catalog_free(c);
		return rc;
	}
	c->bytes += sizeof(*c) + arena_used(c->arena) + json.n +
	    automaton_bytes(c->words) + examples_bytes(c->examples) +
	    c->cap_meanings * sizeof(*c->meanings);
	*out = c;
	return RC_OK;
}

static void
patterns_free(const struct catalog_pattern *p, size_t n)
{
	size_t i;

	for (i = 0; p != NULL && i < n; i++)
		rx_free(p[i].rx);
}

void
catalog_free(struct catalog *c)
{
	size_t i, j;

	if (c == NULL)
		return;
	for (i = 0; c->intents != NULL && i < c->n; i++) {
		struct catalog_intent *in = &c->intents[i];

		if (in->def == NULL)
			break;
		patterns_free(in->rx_any, in->def->match.n_regex_any);
		patterns_free(in->rx_all, in->def->match.n_regex_all);
		for (j = 0; in->slots != NULL && j < in->def->n_slots; j++)
			rx_free(in->slots[j].rx);
	}
	automaton_free(c->words);
	examples_free(c->examples);
	free(c->meanings);
	arena_free(c->arena);
	free(c);
}
