/*
 * Compiling a catalog, once for all the commands that come with it.
 */
#include "catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "rx/rx.h"

/* Compiled JIT code and bookkeeping of one pattern, for the memory ceiling. */
#define PATTERN_BYTES 4096

static enum rc
words_new(struct catalog *c, const struct str *src, size_t n,
    struct catalog_words *out)
{
	size_t i;
	enum rc rc;

	out->source = src;
	out->n = n;
	out->folded = arena_alloc(c->arena, n * sizeof(*out->folded));
	if (out->folded == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		rc = command_fold(src[i], c->arena, &out->folded[i]);
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

static enum rc
pattern_new(
    struct catalog *c, struct str src, struct rx **out, struct wire_err *err)
{
	c->bytes += PATTERN_BYTES;
	return rx_new(src, RX_NOCASE, out, err->why, sizeof(err->why));
}

/* The path is "<where>/<i>"; where is a printf text with the intent's index. */
static enum rc
patterns_new(struct catalog *c, const struct str *src, size_t n,
    struct catalog_patterns *out, const char *where, struct wire_err *err)
{
	size_t i;
	enum rc rc;

	out->source = src;
	out->rx = arena_alloc(c->arena, n * sizeof(*out->rx));
	if (out->rx == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		rc = pattern_new(c, src[i], &out->rx[i], err);
		if (rc != RC_OK) {
			snprintf(
			    err->path, sizeof(err->path), "%s/%zu", where, i);
			return rc;
		}
		out->n++;
	}
	return RC_OK;
}

static enum rc
slots_new(struct catalog *c, struct catalog_intent *in, size_t index,
    struct wire_err *err)
{
	size_t i;
	enum rc rc;

	in->slots =
	    arena_alloc(c->arena, in->def->n_slots * sizeof(*in->slots));
	if (in->slots == NULL)
		return RC_TOOBIG;
	for (i = 0; i < in->def->n_slots; i++) {
		const struct wire_intent_slot *def = &in->def->slots[i];

		in->slots[i].def = def;
		if (def->regex.p == NULL)
			continue;
		rc = pattern_new(c, def->regex, &in->slots[i].rx, err);
		if (rc != RC_OK) {
			snprintf(err->path, sizeof(err->path),
			    "/intent_catalog/%zu/slots/%zu/regex", index, i);
			return rc;
		}
	}
	return RC_OK;
}

static enum rc
intent_new(struct catalog *c, size_t index, const struct wire_intent *def,
    struct wire_err *err)
{
	struct catalog_intent *in = &c->intents[index];
	const struct wire_intent_match *m = &def->match;
	char where[64];
	enum rc rc;

	in->def = def;
	rc = words_new(c, m->keywords_any, m->n_keywords_any, &in->any);
	if (rc == RC_OK)
		rc = words_new(c, m->keywords_all, m->n_keywords_all, &in->all);
	if (rc == RC_OK)
		rc = words_new(
		    c, m->negative_keywords, m->n_negative_keywords, &in->not );
	if (rc == RC_OK) {
		snprintf(where, sizeof(where),
		    "/intent_catalog/%zu/match/regex_any", index);
		rc = patterns_new(
		    c, m->regex_any, m->n_regex_any, &in->rx_any, where, err);
	}
	if (rc == RC_OK) {
		snprintf(where, sizeof(where),
		    "/intent_catalog/%zu/match/regex_all", index);
		rc = patterns_new(
		    c, m->regex_all, m->n_regex_all, &in->rx_all, where, err);
	}
	if (rc == RC_OK)
		rc = slots_new(c, in, index, err);
	return rc;
}

static enum rc
compile(struct catalog *c, const struct wire_intent *defs, struct map *ids,
    struct wire_err *err)
{
	size_t i;
	enum rc rc;

	for (i = 0; i < c->n; i++) {
		if (map_put(ids, defs[i].id, c) != NULL) {
			snprintf(err->path, sizeof(err->path),
			    "/intent_catalog/%zu/id", i);
			snprintf(err->why, sizeof(err->why),
			    "stands twice in the catalog");
			return RC_INVALID;
		}
		rc = intent_new(c, i, &defs[i], err);
		if (rc == RC_TOOBIG && err->why[0] == '\0')
			snprintf(err->why, sizeof(err->why),
			    "the catalog is too large");
		if (rc != RC_OK)
			return rc;
	}
	return RC_OK;
}

enum rc
catalog_new(struct str json, struct catalog **out, struct wire_err *err)
{
	struct wire_intent_catalog_report msg;
	struct catalog *c = mem_zalloc(sizeof(*c));
	struct map *ids = map_new();
	enum rc rc;

	*err = (struct wire_err){ 0 };
	c->arena = arena_new(WIRE_ARENA_MAX);
	rc = wire_decode(
	    &wire_intent_catalog_report_desc, json, c->arena, &msg, err);
	if (rc == RC_OK) {
		c->n = msg.n_intent_catalog;
		c->intents =
		    arena_alloc(c->arena, c->n * sizeof(*c->intents) + 1);
		rc = c->intents != NULL
		    ? compile(c, msg.intent_catalog, ids, err)
		    : RC_TOOBIG;
	}
	map_free(ids);
	if (rc != RC_OK) {
		catalog_free(c);
		return rc;
	}
	c->bytes += arena_used(c->arena) + json.n;
	*out = c;
	return RC_OK;
}

static void
patterns_free(struct catalog_patterns *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		rx_free(p->rx[i]);
}

void
catalog_free(struct catalog *c)
{
	size_t i, j;

	if (c == NULL)
		return;
	for (i = 0; c->intents != NULL && i < c->n; i++) {
		struct catalog_intent *in = &c->intents[i];

		patterns_free(&in->rx_any);
		patterns_free(&in->rx_all);
		for (j = 0; in->slots != NULL && j < in->def->n_slots; j++)
			rx_free(in->slots[j].rx);
	}
	arena_free(c->arena);
	free(c);
}
