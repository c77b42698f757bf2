/*
 * A note is a line: 'S' for a secret or 'U' for user text, and the longest part
 * that logfmt writes verbatim.
 */
#include "testkit/stack/secrets.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/testkit.h"

/* Shorter texts may be in a log by chance, longer ones truncated. */
#define NOTE_MIN  8
#define WORDS_MAX 32
#define NOTE_MAX  96

#define PLANTED(name) "planted-" name "-5f0e9c41d7"

static const char *const planted_env[] = {
	"OPENAI_API_KEY=" PLANTED("openai"),
	"ANTHROPIC_API_KEY=" PLANTED("anthropic"),
	"EMBEDDINGS_API_KEY=" PLANTED("embeddings"),
	"MEM0_API_KEY=" PLANTED("mem0"),
	"CHROMA_API_KEY=" PLANTED("chroma"),
	"NATS_USER=planted",
	"NATS_PASSWORD=" PLANTED("nats"),
	"MQTT_USERNAME=planted",
	"MQTT_PASSWORD=" PLANTED("mqtt"),
};
_Static_assert(NELEM(planted_env) <= SECRETS_ENV_MAX, "room for all");

/* The stack's folder and its notes; empty before the first stack. */
static char folder[256], notes[300];

/* ---- notes ---- */

void
secrets_begin(void)
{
	snprintf(folder, sizeof(folder), "%s", tk_dir());
	snprintf(notes, sizeof(notes), "%s/secrets", folder);
	tk_write_file(notes, "");
}

/* One write, so that notes of several processes do not interleave. */
static void
secrets_append(char kind, struct str s, size_t max)
{
	char line[NOTE_MAX + 3];
	int fd, n;

	if (s.n < NOTE_MIN || notes[0] == '\0')
		return;
	n = snprintf(line, sizeof(line), "%c%.*s\n", kind,
	    (int)(s.n < max ? s.n : max), s.p);
	fd = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC);
	/* The notes of a stack are removed with it. */
	if (fd == -1)
		return;
	if (write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}

void
secrets_note(const char *s)
{
	secrets_append('S', str_of(s), NOTE_MAX);
}

/* Whether the value of a variable of this name is a secret. */
static bool
names_secret(struct str name)
{
	return str_ends(name, STR("_KEY")) ||
	    str_ends(name, STR("_PASSWORD")) || str_ends(name, STR("_TOKEN")) ||
	    str_ends(name, STR("_SECRET"));
}

/* The password of a URL; absent if it has none. */
static struct str
url_password(struct str url)
{
	ptrdiff_t at = str_find(url, STR("://"));
	struct str user;

	if (at < 0)
		return (struct str){ 0 };
	url.p += at + 3;
	url.n -= (size_t)at + 3;
	user = str_split(&url, '@');
	if (url.p == NULL)
		return (struct str){ 0 };
	(void)str_split(&user, ':');
	return user;
}

static bool
has_password(const char **env, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (url_password(str_of(env[i])).n > 0)
			return true;
	}
	return false;
}

size_t
secrets_plant(const char **env, size_t n)
{
	struct str name, value;
	bool named;
	size_t i;

	if (notes[0] == '\0')
		return n;
	/*
	 * The first of two equal variables counts; the password for a server
	 * may be in its URL instead, though, and differ.
	 */
	named = has_password(env, n);
	for (i = 0; i < NELEM(planted_env); i++) {
		if (!named || strstr(planted_env[i], "_API_KEY=") != NULL)
			env[n++] = planted_env[i];
	}
	for (i = 0; i < n; i++) {
		value = str_of(env[i]);
		name = str_split(&value, '=');
		secrets_append('S',
		    names_secret(name) ? value : url_password(value), NOTE_MAX);
	}
	return n;
}

static bool
is_verbatim(char c)
{
	return (unsigned char)c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

static bool
is_ascii(struct str s)
{
	while (s.n > 0 && (unsigned char)s.p[s.n - 1] < 0x80)
		s.n--;
	return s.n == 0;
}

static void
secrets_note_text(struct str s)
{
	struct str best = { s.p, 0 };
	size_t i, from = 0;

	for (i = 0; i <= s.n; i++) {
		if (i < s.n && is_verbatim(s.p[i]))
			continue;
		if (i - from > best.n)
			best = (struct str){ s.p + from, i - from };
		from = i + 1;
	}
	/* A single name is not user text. */
	if (str_find(best, STR(" ")) >= 0 || !is_ascii(best))
		secrets_append('U', best, WORDS_MAX);
}

/* Whether a member is structure rather than user text. */
static bool
is_technical(const char *key)
{
	static const char *const others[] = { "type", "mbti_type", "timezone",
		"model", "url", "mime_type", "finish_reason", "method" };
	size_t i;

	for (i = 0; i < NELEM(others); i++) {
		if (strcmp(key, others[i]) == 0)
			return true;
	}
	return str_ends(str_of(key), STR("_id"));
}

static void
secrets_note_member(json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(v))
		secrets_note_text((struct str){
		    json_string_value(v), json_string_length(v) });
	json_array_foreach (v, i, item)
		secrets_note_member(item);
	json_object_foreach (v, key, item) {
		if (!is_technical(key))
			secrets_note_member(item);
	}
}

void
secrets_note_texts(const json_t *body)
{
	json_t *copy = json_deep_copy(body);

	secrets_note_member(copy);
	json_decref(copy);
}

/* ---- leaks ---- */

/* The note that the line contains; absent if none. */
static struct str
secrets_scan(struct str line, struct str all, bool secrets_only)
{
	struct str one;

	while (all.n > 0) {
		one = str_split(&all, '\n');
		if (one.n < 1 + NOTE_MIN || (secrets_only && one.p[0] != 'S'))
			continue;
		if (memmem(line.p, line.n, one.p + 1, one.n - 1) != NULL)
			return one;
	}
	return (struct str){ 0 };
}

/* All notes; absent without a stack. */
static struct str
read_notes(void)
{
	struct str s = { NULL, 0 };

	if (notes[0] != '\0' && access(notes, R_OK) == 0)
		s.p = tk_read_file(notes, &s.n);
	return s;
}

static bool
is_leaked(const char *path, struct str all, char *dst, size_t size)
{
	struct str log, line, what = { NULL, 0 };
	char *text = tk_read_file(path, &log.n);
	size_t n = 0;

	log.p = text;
	/* Most logs contain none. */
	if (secrets_scan(log, all, false).p == NULL)
		log.p = NULL;
	for (; log.p != NULL && what.p == NULL; n++) {
		line = str_split(&log, '\n');
		what = secrets_scan(
		    line, all, str_find(line, STR(" lvl=debug ")) >= 0);
	}
	if (what.p != NULL)
		snprintf(dst, size, "%s:%zu: contains %s \"%.*s\": %.*s", path,
		    n, what.p[0] == 'S' ? "the secret" : "user text",
		    (int)what.n - 1, what.p + 1,
		    (int)(line.n < 512 ? line.n : 512), line.p);
	free(text);
	return what.p != NULL;
}

/* Processes of the harness itself are not checked. */
static bool
is_harness_log(const char *path)
{
	return str_ends(str_of(path), STR("/capture.log"));
}

static bool
secrets_scan_file(const char *dir, struct str all, char *dst, size_t size)
{
	char pattern[300];
	bool found = false;
	glob_t g;
	size_t i;

	/* The launcher stores the logs of its stack in a subfolder. */
	snprintf(pattern, sizeof(pattern), "%s/{,stack/log/}*.log", dir);
	if (glob(pattern, GLOB_BRACE, NULL, &g) != 0)
		return false;
	for (i = 0; i < g.gl_pathc && !found; i++) {
		if (!is_harness_log(g.gl_pathv[i]))
			found = is_leaked(g.gl_pathv[i], all, dst, size);
	}
	globfree(&g);
	return found;
}

const char *
secrets_leaked(void)
{
	static char why[1200];
	struct str all = read_notes();
	bool found;

	if (all.p == NULL)
		return NULL;
	found = secrets_scan_file(folder, all, why, sizeof(why));
	if (!found && strcmp(tk_dir(), folder) != 0)
		found = secrets_scan_file(tk_dir(), all, why, sizeof(why));
	free((char *)(uintptr_t)all.p);
	return found ? why : NULL;
}

const char *
secrets_in(struct str text, bool words)
{
	static char secret[NOTE_MAX + 1];
	struct str all = read_notes(), what;

	if (all.p == NULL)
		return NULL;
	what = secrets_scan(text, all, !words);
	if (what.p != NULL)
		snprintf(secret, sizeof(secret), "%.*s", (int)what.n - 1,
		    what.p + 1);
	free((char *)(uintptr_t)all.p);
	return what.p != NULL ? secret : NULL;
}
