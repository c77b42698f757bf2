/*
 * Reports of skills and intents, from their payload to what is kept of them.
 */
#include "intake.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "digest.h"
#include "patterns.h"
#include "schemas.h"
#include "wire/device.h"
#include "wire/msgs.h"

/* What stands around the array when nothing else is in the report. */
#define SKILLS_HEAD  "{\"skill_version\":0,\"skills\":"
#define CATALOG_HEAD "{\"catalog_version\":0,\"intent_catalog\":"
#define TAIL         "}"

struct intake {
	size_t skills_max;
	struct buf text; /* scratch */
	/* Digests of good catalogs and skills: the newest, and those before
	 * them.  No text is both, but for the empty array. */
	struct map *known, *known_before;
};

struct intake *
intake_new(size_t skills_max)
{
	struct intake *i = mem_zalloc(sizeof(*i));

	i->skills_max = skills_max;
	buf_init(&i->text, WIRE_MESSAGE_MAX + 64);
	i->known = map_new();
	i->known_before = map_new();
	return i;
}

void
intake_free(struct intake *i)
{
	if (i == NULL)
		return;
	buf_free(&i->text);
	map_free(i->known);
	map_free(i->known_before);
	free(i);
}

static bool
is_known(const struct intake *i, struct str hash)
{
	return map_get(i->known, hash) != NULL ||
	    map_get(i->known_before, hash) != NULL;
}

/* Half of them are forgotten when there are too many. */
static void
remember(struct intake *i, struct str hash)
{
	if (map_len(i->known) >= INTAKE_KNOWN_MAX / 2) {
		map_free(i->known_before);
		i->known_before = i->known;
		i->known = map_new();
	}
	(void)map_put(i->known, hash, i);
}

static bool
is_bare(struct str in)
{
	struct str s = str_trim(in);

	return s.n > 0 && s.p[0] == '[';
}

static enum rc
too_big(struct wire_err *err)
{
	err->path[0] = '\0';
	(void)snprintf(err->why, sizeof(err->why), "takes too much memory");
	return RC_TOOBIG;
}

/* The array in a report that holds nothing else; valid until the next. */
static enum rc
array_text(struct intake *i, const struct wire_desc *d, const void *msg,
    struct str head, struct str *out, struct wire_err *err)
{
	enum rc rc;

	buf_reset(&i->text);
	rc = wire_encode(d, msg, &i->text, err);
	if (rc != RC_OK)
		return rc;
	*out = buf_str(&i->text);
	if (!str_starts(*out, head) || !str_ends(*out, STR(TAIL)))
		return RC_BUG;
	out->p += head.n;
	out->n -= head.n + strlen(TAIL);
	return RC_OK;
}

/* The array of n, and room for their names. */
static enum rc
keep(struct snapshot *s, struct str array, size_t n, struct arena *a,
    struct wire_err *err)
{
	s->json = arena_str(a, array);
	s->names = arena_alloc(a, n * sizeof(*s->names));
	return s->json.p != NULL && s->names != NULL ? RC_OK : too_big(err);
}

/* Where the skill of that name stands, before doubles were dropped. */
static size_t
place_of(struct str in, struct str name, size_t k, struct arena *a)
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
check_skills(struct intake *i, struct str in,
    const struct wire_skills_report *r, const struct snapshot *s,
    struct arena *a, struct wire_err *err)
{
	char hash[DIGEST_MAX];
	struct wire_err at;
	size_t bad;
	enum rc rc;
	int n;

	digest_hex(s->json, hash);
	if (is_known(i, str_of(hash)))
		return RC_OK;
	rc = schemas_check(r->skills, r->n_skills, &bad, &at);
	if (rc == RC_OK) {
		remember(i, str_of(hash));
		return rc;
	}
	if (s->note.why[0] != '\0')
		bad = place_of(in, r->skills[bad].name, bad, a);
	n = snprintf(err->path, sizeof(err->path), "%s/%zu/input_schema",
	    s->bare ? "" : "/skills", bad);
	str_copy(str_of(at.path), err->path + n, sizeof(err->path) - (size_t)n);
	(void)snprintf(err->why, sizeof(err->why), "%s", at.why);
	return rc;
}

/* More than the language model is to be shown in each call. */
static enum rc
check_size(const struct intake *i, struct str array, const struct snapshot *out,
    struct wire_err *err)
{
	if (array.n <= i->skills_max)
		return RC_OK;
	(void)snprintf(
	    err->path, sizeof(err->path), "%s", out->bare ? "" : "/skills");
	(void)snprintf(err->why, sizeof(err->why),
	    "has %zu bytes; the language model is shown %zu at most "
	    "(SKILLS_BYTES_MAX)",
	    array.n, i->skills_max);
	return RC_TOOBIG;
}

enum rc
intake_skills(struct intake *i, struct str in, struct str terminal,
    struct arena *a, struct snapshot *out, struct wire_err *err)
{
	struct wire_skills_report r, array;
	struct str text;
	enum rc rc;
	size_t k;

	*out = (struct snapshot){ .bare = is_bare(in) };
	rc = wire_device_skills(in, terminal, a, &r, &out->note, err);
	if (rc != RC_OK)
		return rc;
	wire_init(&wire_skills_report_desc, &array);
	array.skills = r.skills;
	array.n_skills = r.n_skills;
	rc = array_text(
	    i, &wire_skills_report_desc, &array, STR(SKILLS_HEAD), &text, err);
	if (rc == RC_OK)
		rc = check_size(i, text, out, err);
	if (rc == RC_OK)
		rc = keep(out, text, r.n_skills, a, err);
	if (rc == RC_OK)
		rc = check_skills(i, in, &r, out, a, err);
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
check_catalog(struct intake *i, const struct wire_intent_catalog_report *r,
    struct snapshot *out, struct wire_err *err)
{
	enum rc rc;

	/* Two intents with one id cannot be told apart when they are named. */
	if (out->note.why[0] != '\0') {
		*err = out->note;
		(void)snprintf(
		    err->why, sizeof(err->why), "stands twice in the catalog");
		return RC_INVALID;
	}
	if (is_known(i, out->hash))
		return RC_OK;
	rc = patterns_check(r->intent_catalog, r->n_intent_catalog,
	    out->bare ? "" : "/intent_catalog", err);
	if (rc == RC_OK)
		remember(i, out->hash);
	return rc;
}

enum rc
intake_catalog(struct intake *i, struct str in, struct str terminal,
    struct arena *a, struct snapshot *out, struct wire_err *err)
{
	struct wire_intent_catalog_report r, array;
	char hash[DIGEST_MAX];
	struct str text;
	enum rc rc;
	size_t k;

	*out = (struct snapshot){ .bare = is_bare(in) };
	rc = wire_device_intents(in, terminal, a, &r, &out->note, err);
	if (rc != RC_OK)
		return rc;
	wire_init(&wire_intent_catalog_report_desc, &array);
	array.intent_catalog = r.intent_catalog;
	array.n_intent_catalog = r.n_intent_catalog;
	rc = array_text(i, &wire_intent_catalog_report_desc, &array,
	    STR(CATALOG_HEAD), &text, err);
	if (rc == RC_OK)
		rc = keep(out, text, r.n_intent_catalog, a, err);
	if (rc != RC_OK)
		return rc;
	digest_hex(out->json, hash);
	out->hash = arena_str(a, str_of(hash));
	if (out->hash.p == NULL)
		return too_big(err);
	rc = check_catalog(i, &r, out, err);
	if (rc != RC_OK)
		return rc;
	for (k = 0; k < r.n_intent_catalog; k++)
		out->names[out->n_names++] = r.intent_catalog[k].id;
	out->version = r.catalog_version;
	return RC_OK;
}
