/*
 * providers: the language models of a program, from its configuration.  The
 * options are the same for every program with a client.
 */
#ifndef LLM_PROVIDERS_H
#define LLM_PROVIDERS_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/conf.h"
#include "llm/llm.h"

/* Largest file of providers in bytes. */
#define LLM_PROVIDERS_FILE_MAX ((size_t)256 * 1024)

/* A part of a program's configuration. */
struct llm_conf {
	const char *provider;
	const char *openai_url, *openai_key;
	const char *anthropic_url, *anthropic_key;
	const char *model;
	const char *file;
};

/* The rows that fill the member m of struct t. */
#define LLM_CONF_N 7
#define LLM_CONF_OPTS(t, m)                                                   \
	{ "LLM_PROVIDER", CONF_STR, CONF_AT(t, m.provider), "openai", 0, 0,   \
		"language model: openai (any compatible server) or claude" }, \
	    { "OPENAI_BASE_URL", CONF_URL, CONF_AT(t, m.openai_url),          \
		    "http://127.0.0.1:9080/v1", 0, 0,                         \
		    "base URL of openai, without /chat/completions" },        \
	    { "OPENAI_API_KEY", CONF_SECRET, CONF_AT(t, m.openai_key), "", 0, \
		    0, "API key of openai; empty for none" },                 \
	    { "ANTHROPIC_BASE_URL", CONF_URL, CONF_AT(t, m.anthropic_url),    \
		    "https://api.anthropic.com", 0, 0,                        \
		    "base URL of claude, without /v1/messages" },             \
	    { "ANTHROPIC_API_KEY", CONF_SECRET, CONF_AT(t, m.anthropic_key),  \
		    "", 0, 0, "API key of claude; empty for none" },          \
	    { "LLM_MODEL", CONF_STR, CONF_AT(t, m.model), "", 0, 0,           \
		    "model; empty: gpt-4o-mini or claude-haiku-4-5" },        \
	{                                                                     \
		"LLM_PROVIDERS", CONF_STR, CONF_AT(t, m.file), "", 0, 0,      \
		    "JSON file with a list of providers; replaces the above"  \
	}

/* Size of the text about an invalid file, including the NUL. */
#define LLM_PROVIDERS_WHY_MAX 600

/*
 * llm_providers_read(json, a, out, why):
 * The providers of a file (llm_providers.schema.json), allocated from a; *out
 * gets LLM_PROVIDERS_MAX of them at most.  RC_INVALID or RC_TOOBIG with why set
 * to the path in the file and the error.  Keys may come from the environment.
 */
enum rc llm_providers_read(struct str json, struct arena *a,
    struct llm_opts *out, char why[LLM_PROVIDERS_WHY_MAX]) RC_CHECK;

/*
 * llm_conf_check(c, errors, known):
 * Append what llm_open() would reject to errors, one line each, without keys;
 * reads the file.  The environment variables that the file names are appended
 * to known, one per line.
 */
void llm_conf_check(
    const struct llm_conf *c, struct buf *errors, struct buf *known);

/*
 * llm_open(c, o, out):
 * llm_new(o) with the providers of c instead of o's.  Reads a file: at start
 * only.  Errors are logged, without keys.
 */
enum rc llm_open(const struct llm_conf *c, const struct llm_opts *o,
    struct llm **out) RC_CHECK;

/*
 * llm_open_one(c, o, i, out):
 * The same with only the i-th provider; RC_NOENT after the last.
 */
enum rc llm_open_one(const struct llm_conf *c, const struct llm_opts *o,
    size_t i, struct llm **out) RC_CHECK;

#endif /* !LLM_PROVIDERS_H */
