/*
 * Compilation of a catalog.
 */
#include "catalog/catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "catalog/catalog_internal.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "text/automaton.h"
#include "text/command_text.h"
#include "text/utterance.h"
#include "text/vocabulary.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "zh/hanzi.h"

/* Estimated memory of one compiled pattern, JIT code included. */
#define PATTERN_BYTES 4096
/* Shorter examples are too unspecific to be searched for in commands. */
#define EXAMPLE_MIN        9
#define EXAMPLE_OBJECT_MIN 6

/* The catalog being compiled. */
struct catalog_builder {
	struct catalog *c;
	struct wire_err *err;
	struct map *ids;
	uint32_t index; /* of the current intent */
	struct catalog_intent *in;
};

/* ---- topics: what an intent's phrases are about ---- */

static const struct {
	unsigned topics;
	struct str word;
} phrase_stems[] = {
	{ PHRASE_OPENS, STR_INIT("开") },
	{ PHRASE_OPENS, STR_INIT("open") },
	{ PHRASE_OPENS, STR_INIT("turn on") },
	{ PHRASE_OPENS, STR_INIT("on") },
	{ PHRASE_OPENS, STR_INIT("켜") },
	{ PHRASE_OPENS, STR_INIT("つけ") },
	{ PHRASE_CLOSES, STR_INIT("关") },
	{ PHRASE_CLOSES, STR_INIT("停") },
	{ PHRASE_CLOSES, STR_INIT("熄") },
	{ PHRASE_CLOSES, STR_INIT("拉上") },
	{ PHRASE_CLOSES, STR_INIT("close") },
	{ PHRASE_CLOSES, STR_INIT("stop") },
	{ PHRASE_CLOSES, STR_INIT("off") },
	{ PHRASE_CLOSES, STR_INIT("shut") },
	{ PHRASE_CLOSES, STR_INIT("꺼") },
	{ PHRASE_CLOSES, STR_INIT("消") },
	{ PHRASE_CANCELS, STR_INIT("取消") },
	{ PHRASE_CANCELS, STR_INIT("撤") },
	{ PHRASE_CANCELS, STR_INIT("删") },
	{ PHRASE_CANCELS, STR_INIT("清除") },
	{ PHRASE_CANCELS, STR_INIT("移除") },
	{ PHRASE_CANCELS, STR_INIT("cancel") },
	{ PHRASE_CANCELS, STR_INIT("delete") },
	{ PHRASE_CANCELS, STR_INIT("remove") },
};

static unsigned
phrase_topics(struct str folded)
{
	unsigned topics = 0;
	ptrdiff_t at;
	size_t i;

	for (i = 0; i < NELEM(phrase_stems); i++) {
		at = str_find(folded, phrase_stems[i].word);
		if (at >= 0 &&
		    vocabulary_is_whole_word(folded, (size_t)at,
			(size_t)at + phrase_stems[i].word.n))
			topics |= phrase_stems[i].topics;
	}
	return topics;
}

static void
catalog_add_topics(struct catalog_builder *b, struct str folded)
{
	b->in->topics |= phrase_topics(folded);
}

/* An identifier as words: "cancel_alarm". */
static enum rc
catalog_add_id_topics(struct catalog_builder *b, struct str id)
{
	struct str folded;
	char *p;
	size_t i;
	enum rc rc;

	if (id.p == NULL)
		return RC_OK;
	rc = command_fold(id, b->c->arena, &folded);
	if (rc != RC_OK)
		return rc;
	p = arena_alloc(b->c->arena, folded.n + 1);
	if (p == NULL)
		return RC_TOOBIG;
	for (i = 0; i < folded.n; i++)
		p[i] = folded.p[i] == '_' ? ' ' : folded.p[i];
	catalog_add_topics(b, (struct str){ p, folded.n });
	return RC_OK;
}

/* ---- words and patterns ---- */

static void
catalog_add_word(struct catalog_builder *b, struct str folded,
    enum catalog_list list, size_t index)
{
	struct catalog *c = b->c;

	if (c->n_meanings == c->cap_meanings) {
		c->cap_meanings =
		    c->cap_meanings == 0 ? 64 : 2 * c->cap_meanings;
		c->meanings = mem_realloc(
		    c->meanings, c->cap_meanings * sizeof(*c->meanings));
	}
	automaton_add(c->words, folded, (uint32_t)c->n_meanings);
	c->meanings[c->n_meanings++] =
	    (struct catalog_word){ b->index, (uint32_t)index, list, { 0 } };
}

/* "打开风扇" matches 把风扇开一下: its object, with the verb it requires. */
static void
catalog_add_verb_object(struct catalog_builder *b, struct str folded,
    enum catalog_list list, size_t index)
{
	struct str verb, object;

	if (!verb_object_split(folded, &verb, &object) ||
	    (list == CATALOG_EXAMPLE_VERB_OBJECT &&
		object.n < EXAMPLE_OBJECT_MIN))
		return;
	catalog_add_word(b, object, list, index);
	b->c->meanings[b->c->n_meanings - 1].verb = verb;
}

static enum rc
catalog_add_words(struct catalog_builder *b, const struct str *src, size_t n,
    enum catalog_list list)
{
	struct str folded;
	size_t i;
	enum rc rc;

	for (i = 0; i < n; i++) {
		rc = command_fold(src[i], b->c->arena, &folded);
		if (rc != RC_OK)
			return rc;
		catalog_add_word(b, folded, list, i);
		if (list == CATALOG_ANY)
			catalog_add_verb_object(
			    b, folded, CATALOG_VERB_OBJECT, i);
		if (list != CATALOG_NOT)
			catalog_add_topics(b, folded);
	}
	return RC_OK;
}

/* Patterns are matched with simplified text, so they are simplified too. */
static enum rc
catalog_simplify(struct catalog_builder *b, struct str src, struct str *out)
{
	char *p = arena_alloc(b->c->arena, src.n + 1);

	if (p == NULL)
		return RC_TOOBIG;
	memcpy(p, src.p, src.n);
	(void)hanzi_simplify(p, src.n);
	*out = (struct str){ p, src.n };
	catalog_add_topics(b, *out);
	return RC_OK;
}

static enum rc
catalog_new_pattern(struct catalog_builder *b, struct str src, struct rx **out)
{
	b->c->bytes += PATTERN_BYTES;
	return rx_new(src, RX_NOCASE, out, b->err->why, sizeof(b->err->why));
}

/* With unmatched spans marked, unless that makes it too large. */
static enum rc
catalog_new_marked_pattern(
    struct catalog_builder *b, struct str src, struct catalog_pattern *p)
{
	struct buf marked = BUF_INIT(RX_PATTERN_MAX);
	enum rc rc = RC_TOOBIG;

	p->unmatched = unmatched_span_mark(src, &marked);
	if (p->unmatched != 0 && buf_rc(&marked) == RC_OK)
		rc = catalog_new_pattern(b, buf_str(&marked), &p->rx);
	buf_free(&marked);
	if (rc == RC_OK)
		return RC_OK;
	p->unmatched = 0;
	return catalog_new_pattern(b, src, &p->rx);
}

static void
catalog_add_literals(struct catalog_builder *b, struct catalog_pattern *p,
    struct str src, enum catalog_list list, size_t index)
{
	struct pattern_literals l;
	size_t i;

	pattern_literals_find(src, &l);
	p->has_literal = l.n > 0;
	for (i = 0; i < l.n; i++)
		catalog_add_word(
		    b, (struct str){ l.text[i], l.len[i] }, list, index);
}

static enum rc
catalog_add_patterns(struct catalog_builder *b, const struct str *src, size_t n,
    enum catalog_list list, struct catalog_pattern **out)
{
	struct catalog_pattern *p = arena_alloc(b->c->arena, n * sizeof(*p));
	struct str simplified;
	size_t i;
	enum rc rc;

	if (p == NULL)
		return RC_TOOBIG;
	*out = p;
	for (i = 0; i < n; i++) {
		rc = catalog_simplify(b, src[i], &simplified);
		if (rc == RC_OK)
			rc = catalog_new_marked_pattern(b, simplified, &p[i]);
		if (rc != RC_OK) {
			snprintf(b->err->path, sizeof(b->err->path),
			    "/intent_catalog/%u/match/%s/%zu", b->index,
			    list == CATALOG_RX_ANY ? "regex_any" : "regex_all",
			    i);
			return rc;
		}
		catalog_add_literals(b, &p[i], simplified, list, i);
		if (!p[i].has_literal)
			b->in->always = true;
	}
	return RC_OK;
}

static int
catalog_value_cmp(const void *pa, const void *pb)
{
	const struct catalog_value *a = pa, *b = pb;

	return a->folded.n > b->folded.n ? -1 : a->folded.n < b->folded.n;
}

static enum rc
catalog_new_value(struct catalog_builder *b, const struct wire_tree_member *in,
    struct catalog_value *out)
{
	struct buf buf = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &buf };
	enum rc rc = command_fold(in->key, b->c->arena, &out->folded);

	if (rc == RC_OK)
		catalog_add_topics(b, out->folded);
	wire_tree_put(in->value, &o);
	if (rc == RC_OK)
		rc = buf_rc(&buf);
	if (rc == RC_OK) {
		out->json = arena_str(b->c->arena, buf_str(&buf));
		rc = out->json.p != NULL ? RC_OK : RC_TOOBIG;
	}
	buf_free(&buf);
	return rc;
}

/* {"绿色": "green", …} */
static enum rc
catalog_add_values(
    struct catalog_builder *b, struct str json, struct catalog_slot *slot)
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
	    b->c->arena, wire_tree_len(tree) * sizeof(*slot->values));
	if (slot->values == NULL)
		rc = RC_TOOBIG;
	for (more = wire_tree_first(tree, &member); more && rc == RC_OK;
	     more = wire_tree_next(tree, &member))
		rc = catalog_new_value(
		    b, &member, &slot->values[slot->n_values++]);
	wire_tree_free(tree);
	if (rc == RC_OK && slot->n_values > 1)
		qsort(slot->values, slot->n_values, sizeof(*slot->values),
		    catalog_value_cmp);
	return rc;
}

/* Whether the verb is an argument of the slot. */
static bool
catalog_slot_takes_action(const struct wire_intent_slot *def)
{
	size_t i;

	for (i = 0; i < def->n_from_entity_types; i++) {
		if (str_eq(def->from_entity_types[i], STR("action")))
			return true;
	}
	return false;
}

static struct str
catalog_slot_key(struct catalog_builder *b, struct str name)
{
	struct buf buf = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_out o = { .b = &buf };
	struct str key;

	wire_out_key(&o, name);
	key = arena_str(b->c->arena, buf_str(&buf));
	buf_free(&buf);
	return key;
}

static enum rc
catalog_add_slots(struct catalog_builder *b)
{
	struct catalog_intent *in = b->in;
	struct str simplified;
	size_t i;
	enum rc rc;

	in->slots =
	    arena_alloc(b->c->arena, in->def->n_slots * sizeof(*in->slots));
	if (in->slots == NULL)
		return RC_TOOBIG;
	in->mode = catalog_slot_index(in->def, STR("mode"));
	in->color = catalog_slot_index(in->def, STR("color"));
	for (i = 0; i < in->def->n_slots; i++) {
		const struct wire_intent_slot *def = &in->def->slots[i];

		in->slots[i].def = def;
		in->slots[i].traits = catalog_slot_traits(def);
		in->slots[i].key = catalog_slot_key(b, def->name);
		if (in->slots[i].key.p == NULL)
			return RC_TOOBIG;
		if (catalog_slot_takes_action(def))
			in->topics |= PHRASE_OPENS | PHRASE_CLOSES;
		rc = catalog_add_values(b, def->values, &in->slots[i]);
		if (rc != RC_OK)
			return rc;
		if (def->regex.p == NULL)
			continue;
		rc = catalog_simplify(b, def->regex, &simplified);
		if (rc == RC_OK)
			rc = catalog_new_pattern(
			    b, simplified, &in->slots[i].rx);
		if (rc != RC_OK) {
			snprintf(b->err->path, sizeof(b->err->path),
			    "/intent_catalog/%u/slots/%zu/regex", b->index, i);
			return rc;
		}
	}
	return RC_OK;
}

static enum rc
catalog_add_examples(
    struct catalog_builder *b, const struct wire_intent_match *candidate)
{
	struct str folded, core;
	size_t i;
	enum rc rc;

	if (candidate->n_examples > 0)
		b->c->has_examples = true;
	for (i = 0; i < candidate->n_examples; i++) {
		rc = command_fold(candidate->examples[i], b->c->arena, &folded);
		if (rc != RC_OK)
			return rc;
		if (folded.n >= EXAMPLE_MIN) {
			catalog_add_word(b, folded, CATALOG_EXAMPLE, i);
			catalog_add_verb_object(
			    b, folded, CATALOG_EXAMPLE_VERB_OBJECT, i);
		}
		core = vocabulary_core(folded, b->c->arena);
		example_index_add(
		    b->c->examples, b->index, (uint32_t)i, folded);
		if (!str_eq(core, folded))
			example_index_add(
			    b->c->examples, b->index, (uint32_t)i, core);
		catalog_add_topics(b, folded);
	}
	return RC_OK;
}

/* ---- the catalog ---- */

static enum rc
catalog_add_intent(struct catalog_builder *b, const struct wire_intent *def)
{
	const struct wire_intent_match *candidate = &def->match;
	struct catalog_intent *in = b->in;
	enum rc rc;

	in->def = def;
	rc = catalog_add_words(
	    b, candidate->keywords_any, candidate->n_keywords_any, CATALOG_ANY);
	if (rc == RC_OK)
		rc = catalog_add_words(b, candidate->keywords_all,
		    candidate->n_keywords_all, CATALOG_ALL);
	if (rc == RC_OK)
		rc = catalog_add_words(b, candidate->negative_keywords,
		    candidate->n_negative_keywords, CATALOG_NOT);
	if (rc == RC_OK)
		rc = catalog_add_patterns(b, candidate->regex_any,
		    candidate->n_regex_any, CATALOG_RX_ANY, &in->rx_any);
	if (rc == RC_OK)
		rc = catalog_add_patterns(b, candidate->regex_all,
		    candidate->n_regex_all, CATALOG_RX_ALL, &in->rx_all);
	if (rc == RC_OK)
		rc = catalog_add_slots(b);
	if (rc == RC_OK)
		rc = catalog_add_examples(b, candidate);
	if (rc == RC_OK)
		rc = catalog_add_id_topics(b, def->id);
	if (rc == RC_OK)
		rc = catalog_add_id_topics(b, def->name);
	if (candidate->n_entity_types_any + candidate->n_entity_types_all > 0)
		in->always = true;
	if (in->always)
		b->c->always[b->c->n_always++] = b->index;
	return rc;
}

static enum rc
catalog_add_intents(struct catalog_builder *b, const struct wire_intent *defs)
{
	struct catalog *c = b->c;
	enum rc rc;

	for (b->index = 0; b->index < c->n; b->index++) {
		b->in = &c->intents[b->index];
		if (map_put(b->ids, defs[b->index].id, c) != NULL) {
			snprintf(b->err->path, sizeof(b->err->path),
			    "/intent_catalog/%u/id", b->index);
			snprintf(b->err->why, sizeof(b->err->why),
			    "stands twice in the catalog");
			return RC_INVALID;
		}
		rc = catalog_add_intent(b, &defs[b->index]);
		if (rc == RC_TOOBIG && b->err->why[0] == '\0')
			snprintf(b->err->why, sizeof(b->err->why),
			    "the catalog is too large");
		if (rc != RC_OK)
			return rc;
	}
	automaton_build(c->words);
	example_index_build(c->examples);
	return RC_OK;
}

enum rc
catalog_new(struct str json, struct catalog **out, struct wire_err *err)
{
	struct wire_intent_catalog_report msg;
	struct catalog *c = mem_zalloc(sizeof(*c));
	struct catalog_builder b = { .c = c, .err = err, .ids = map_new() };
	enum rc rc;

	*err = (struct wire_err){ 0 };
	c->arena = arena_new(WIRE_ARENA_MAX);
	c->words = automaton_new();
	c->examples = example_index_new();
	rc = wire_decode(
	    &wire_intent_catalog_report_desc, json, c->arena, &msg, err);
	if (rc == RC_OK) {
		c->n = msg.n_intent_catalog;
		c->intents = arena_alloc(c->arena, c->n * sizeof(*c->intents));
		c->always = arena_alloc(c->arena, c->n * sizeof(*c->always));
		rc = c->intents == NULL || c->always == NULL
		    ? RC_TOOBIG
		    : catalog_add_intents(&b, msg.intent_catalog);
	}
	map_free(b.ids);
	if (rc != RC_OK) {
		catalog_free(c);
		return rc;
	}
	c->bytes += sizeof(*c) + arena_used(c->arena) + json.n +
	    automaton_bytes(c->words) + example_index_bytes(c->examples) +
	    c->cap_meanings * sizeof(*c->meanings);
	*out = c;
	return RC_OK;
}

enum rc
catalog_compile(const struct wire_intent *intents, size_t n,
    struct catalog **out, struct wire_err *err)
{
	struct wire_intent_catalog_report msg = {
		.intent_catalog = (struct wire_intent *)(uintptr_t)intents,
		.n_intent_catalog = n
	};
	struct buf json = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	rc = wire_encode(&wire_intent_catalog_report_desc, &msg, &json, err);
	if (rc == RC_OK)
		rc = catalog_new(buf_str(&json), out, err);
	buf_free(&json);
	return rc;
}

static void
catalog_free_patterns(const struct catalog_pattern *p, size_t n)
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
		catalog_free_patterns(in->rx_any, in->def->match.n_regex_any);
		catalog_free_patterns(in->rx_all, in->def->match.n_regex_all);
		for (j = 0; in->slots != NULL && j < in->def->n_slots; j++)
			rx_free(in->slots[j].rx);
	}
	automaton_free(c->words);
	example_index_free(c->examples);
	free(c->meanings);
	arena_free(c->arena);
	free(c);
}
