#include "terminal/snapshot_parse.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/map.h"
#include "core/mem.h"
#include "rx/rx.h"
#include "wire/device.h"
#include "wire/msgs.h"
#include "wire/schema.h"

/* Processor time for compiling the patterns, and the schemas, of one report. */
#define PATTERNS_MS 150
#define SCHEMAS_MS  500

void
snapshot_digest(struct str s, char dst[SNAPSHOT_DIGEST_MAX])
{
	struct sha256_ctx ctx;
	uint8_t sum[SHA256_DIGEST_SIZE];
	size_t i;

	sha256_init(&ctx);
	sha256_update(&ctx, s.n, (const uint8_t *)s.p);
	sha256_digest(&ctx, sizeof(sum), sum);
	for (i = 0; i < sizeof(sum); i++)
		(void)snprintf(dst + 2 * i, 3, "%02x", sum[i]);
}

/* ---- patterns ---- */

struct pattern_check {
	struct budget budget;
	const char *where;
	size_t intent;
	struct wire_err *err;
};

static enum rc
pattern_compile(
    struct pattern_check *c, struct str pattern, const char *member, size_t i)
{
	struct wire_err *err = c->err;
	struct rx *rx = NULL;
	enum rc rc;

	rc = rx_new(pattern, RX_NOCASE, &rx, err->why, sizeof(err->why));
	rx_free(rx);
	if (rc == RC_OK && budget_over(&c->budget)) {
		(void)snprintf(err->why, sizeof(err->why),
		    "is where compiling the patterns exceeded its time limit");
		rc = RC_TOOBIG;
	}
	if (rc != RC_OK)
		(void)snprintf(err->path, sizeof(err->path), "%s/%zu/%s/%zu%s",
		    c->where, c->intent, member, i,
		    member[0] == 's' ? "/regex" : "");
	return rc;
}

static enum rc
pattern_compile_list(struct pattern_check *c, const struct str *list, size_t n,
    const char *member)
{
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < n && rc == RC_OK; i++)
		rc = pattern_compile(c, list[i], member, i);
	return rc;
}

static enum rc
pattern_check_intent(struct pattern_check *c, const struct wire_intent *in)
{
	enum rc rc;
	size_t i;

	rc = pattern_compile_list(
	    c, in->match.regex_any, in->match.n_regex_any, "match/regex_any");
	if (rc == RC_OK)
		rc = pattern_compile_list(c, in->match.regex_all,
		    in->match.n_regex_all, "match/regex_all");
	for (i = 0; i < in->n_slots && rc == RC_OK; i++)
		if (in->slots[i].regex.p != NULL)
			rc = pattern_compile(c, in->slots[i].regex, "slots", i);
	return rc;
}

static enum rc
snapshot_check_patterns(const struct wire_intent *intents, size_t n,
    const char *where, struct wire_err *err)
{
	struct pattern_check c = { .where = where, .err = err };
	enum rc rc = RC_OK;

	budget_start(&c.budget, PATTERNS_MS * INT64_C(1000000));
	for (c.intent = 0; c.intent < n && rc == RC_OK; c.intent++)
		rc = pattern_check_intent(&c, &intents[c.intent]);
	return rc;
}

/* ---- schemas ---- */

static enum rc
snapshot_check_schemas(const struct wire_skill *skills, size_t n, size_t *bad,
    struct wire_err *err)
{
	struct budget budget;
	enum rc rc;

	budget_start(&budget, SCHEMAS_MS * INT64_C(1000000));
	for (*bad = 0; *bad < n; ++*bad) {
		struct wire_schema *schema = NULL;

		if (skills[*bad].input_schema.p == NULL)
			continue;
		rc = wire_schema_new(skills[*bad].input_schema, &schema, err);
		wire_schema_free(schema);
		if (rc == RC_INVALID)
			return rc;
		if (budget_over(&budget)) {
			err->path[0] = '\0';
			(void)snprintf(err->why, sizeof(err->why),
			    "is where compiling the schemas exceeded its "
			    "time limit");
			return RC_TOOBIG;
		}
	}
	return RC_OK;
}

/* ---- reports ---- */

/* The encoding of a report around its array if nothing else is set. */
#define SKILLS_HEAD  "{\"skill_version\":0,\"skills\":"
#define CATALOG_HEAD "{\"catalog_version\":0,\"intent_catalog\":"
#define TAIL         "}"

struct snapshot_parser {
	size_t skills_max;
	struct buf text; /* scratch */
	/*
	 * Digests of valid catalogs and skills, in two generations.  Only the
	 * empty array is valid as both.
	 */
	struct map *valid, *valid_before;
};

struct snapshot_parser *
snapshot_parser_new(size_t skills_max)
{
	struct snapshot_parser *p = mem_zalloc(sizeof(*p));

	p->skills_max = skills_max;
	buf_init(&p->text, WIRE_MESSAGE_MAX + 64);
	p->valid = map_new();
	p->valid_before = map_new();
	return p;
}

void
snapshot_parser_free(struct snapshot_parser *p)
{
	if (p == NULL)
		return;
	buf_free(&p->text);
	map_free(p->valid);
	map_free(p->valid_before);
	free(p);
}

static bool
snapshot_is_valid(const struct snapshot_parser *p, struct str hash)
{
	return map_get(p->valid, hash) != NULL ||
	    map_get(p->valid_before, hash) != NULL;
}

/* Drops the older generation when the newer one is full. */
static void
snapshot_remember(struct snapshot_parser *p, struct str hash)
{
	if (map_len(p->valid) >= SNAPSHOT_VALID_MAX / 2) {
		map_free(p->valid_before);
		p->valid_before = p->valid;
		p->valid = map_new();
	}
	(void)map_put(p->valid, hash, p);
}

static bool
snapshot_is_array(struct str in)
{
	struct str s = str_trim(in);

	return s.n > 0 && s.p[0] == '[';
}

static enum rc
snapshot_too_big(struct wire_err *err)
{
	err->path[0] = '\0';
	(void)snprintf(err->why, sizeof(err->why), "takes too much memory");
	return RC_TOOBIG;
}

/*
 * Encode the array of a report in which nothing else is set; valid until the
 * next call.
 */
static enum rc
snapshot_array_text(struct snapshot_parser *p, const struct wire_desc *d,
    const void *msg, struct str head, struct str *out, struct wire_err *err)
{
	enum rc rc;

	buf_reset(&p->text);
	rc = wire_encode(d, msg, &p->text, err);
	if (rc != RC_OK)
		return rc;
	*out = buf_str(&p->text);
	if (!str_starts(*out, head) || !str_ends(*out, STR(TAIL)))
		return RC_BUG;
	out->p += head.n;
	out->n -= head.n + strlen(TAIL);
	return RC_OK;
}

/* Copy the array, and allocate room for n names. */
static enum rc
snapshot_store(struct snapshot *s, struct str array, size_t n, struct arena *a,
    struct wire_err *err)
{
	s->json = arena_str(a, array);
	s->names = arena_alloc(a, n * sizeof(*s->names));
	return s->json.p != NULL && s->names != NULL ? RC_OK
						     : snapshot_too_big(err);
}

/* The index of a skill before duplicates were dropped; k if unknown. */
static size_t
snapshot_skill_index(struct str in, struct str name, size_t k, struct arena *a)
{
	struct wire_skills_report raw;
	size_t i;

	if (wire_decode(&wire_skills_report_desc, in, a, &raw, NULL) != RC_OK)
		return k;
	for (i = 0; i < raw.n_skills; i++)
		if (str_eq(raw.skills[i].name, name))
			return i;
	return k;
}

static enum rc
snapshot_check_skills(struct snapshot_parser *p, struct str in,
    const struct wire_skills_report *r, const struct snapshot *s,
    struct arena *a, struct wire_err *err)
{
	char hash[SNAPSHOT_DIGEST_MAX];
	struct wire_err at;
	size_t bad;
	enum rc rc;
	int n;

	snapshot_digest(s->json, hash);
	if (snapshot_is_valid(p, str_of(hash)))
		return RC_OK;
	rc = snapshot_check_schemas(r->skills, r->n_skills, &bad, &at);
	if (rc == RC_OK) {
		snapshot_remember(p, str_of(hash));
		return rc;
	}
	if (s->note.why[0] != '\0')
		bad = snapshot_skill_index(in, r->skills[bad].name, bad, a);
	n = snprintf(err->path, sizeof(err->path), "%s/%zu/input_schema",
	    s->bare ? "" : "/skills", bad);
	str_copy(str_of(at.path), err->path + n, sizeof(err->path) - (size_t)n);
	(void)snprintf(err->why, sizeof(err->why), "%s", at.why);
	return rc;
}

static enum rc
snapshot_check_size(const struct snapshot_parser *p, struct str array,
    const struct snapshot *out, struct wire_err *err)
{
	if (array.n <= p->skills_max)
		return RC_OK;
	(void)snprintf(
	    err->path, sizeof(err->path), "%s", out->bare ? "" : "/skills");
	(void)snprintf(err->why, sizeof(err->why),
	    "has %zu bytes; the language model is shown %zu at most "
	    "(SKILLS_BYTES_MAX)",
	    array.n, p->skills_max);
	return RC_TOOBIG;
}

enum rc
snapshot_parse_skills(struct snapshot_parser *p, struct str in,
    struct str terminal, struct arena *a, struct snapshot *out,
    struct wire_err *err)
{
	struct wire_skills_report r, array;
	struct str text;
	enum rc rc;
	size_t k;

	*out = (struct snapshot){ .bare = snapshot_is_array(in) };
	rc = wire_device_skills(in, terminal, a, &r, &out->note, err);
	if (rc != RC_OK)
		return rc;
	wire_init(&wire_skills_report_desc, &array);
	array.skills = r.skills;
	array.n_skills = r.n_skills;
	rc = snapshot_array_text(
	    p, &wire_skills_report_desc, &array, STR(SKILLS_HEAD), &text, err);
	if (rc == RC_OK)
		rc = snapshot_check_size(p, text, out, err);
	if (rc == RC_OK)
		rc = snapshot_store(out, text, r.n_skills, a, err);
	if (rc == RC_OK)
		rc = snapshot_check_skills(p, in, &r, out, a, err);
	if (rc != RC_OK)
		return rc;
	for (k = 0; k < r.n_skills; k++)
		out->names[out->n_names++] = r.skills[k].name;
	out->version = r.skill_version;
	if (r.soul_hint.n > 0)
		out->soul_hint = r.soul_hint;
	return RC_OK;
}

static enum rc
snapshot_check_catalog(struct snapshot_parser *p,
    const struct wire_intent_catalog_report *r, struct snapshot *out,
    struct wire_err *err)
{
	enum rc rc;

	/* A decision names an intent by its id. */
	if (out->note.why[0] != '\0') {
		*err = out->note;
		(void)snprintf(
		    err->why, sizeof(err->why), "occurs twice in the catalog");
		return RC_INVALID;
	}
	if (snapshot_is_valid(p, out->hash))
		return RC_OK;
	rc = snapshot_check_patterns(r->intent_catalog, r->n_intent_catalog,
	    out->bare ? "" : "/intent_catalog", err);
	if (rc == RC_OK)
		snapshot_remember(p, out->hash);
	return rc;
}

enum rc
snapshot_parse_catalog(struct snapshot_parser *p, struct str in,
    struct str terminal, struct arena *a, struct snapshot *out,
    struct wire_err *err)
{
	struct wire_intent_catalog_report r, array;
	char hash[SNAPSHOT_DIGEST_MAX];
	struct str text;
	enum rc rc;
	size_t k;

	*out = (struct snapshot){ .bare = snapshot_is_array(in) };
	rc = wire_device_intents(in, terminal, a, &r, &out->note, err);
	if (rc != RC_OK)
		return rc;
	wire_init(&wire_intent_catalog_report_desc, &array);
	array.intent_catalog = r.intent_catalog;
	array.n_intent_catalog = r.n_intent_catalog;
	rc = snapshot_array_text(p, &wire_intent_catalog_report_desc, &array,
	    STR(CATALOG_HEAD), &text, err);
	if (rc == RC_OK)
		rc = snapshot_store(out, text, r.n_intent_catalog, a, err);
	if (rc != RC_OK)
		return rc;
	snapshot_digest(out->json, hash);
	out->hash = arena_str(a, str_of(hash));
	if (out->hash.p == NULL)
		return snapshot_too_big(err);
	rc = snapshot_check_catalog(p, &r, out, err);
	if (rc != RC_OK)
		return rc;
	for (k = 0; k < r.n_intent_catalog; k++)
		out->names[out->n_names++] = r.intent_catalog[k].id;
	out->version = r.catalog_version;
	return RC_OK;
}
