/*
 * A note is a line: 'S' for a secret, 'U' for a user's words, and the longest
 * part that logfmt writes as it is.
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

/* Shorter words may stand in a log by chance, longer ones cut. */
#define NOTE_MIN  8
#define WORDS_MAX 32
#define NOTE_MAX  96

#define PLANTED(name) "planted-" name "-5f0e9c41d7"

static const char *const planted[] = {
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
_Static_assert(NELEM(planted) <= SECRETS_ENV_MAX, "room for all");

/* The stack's folder and its notes; none before the first stack. */
static char folder[256], notes[300];

/* ---- noting ----------------------------------------------------------------
 */

void
secrets_begin(void)
{
	snprintf(folder, sizeof(folder), "%s", tk_dir());
	snprintf(notes, sizeof(notes), "%s/secrets", folder);
	tk_write_file(notes, "");
}

/* One write, so that notes of several processes do not mix. */
static void
note(char kind, struct str s, size_t max)
{
	char line[NOTE_MAX + 3];
	int fd, n;

	if (s.n < NOTE_MIN || notes[0] == '\0')
		return;
	n = snprintf(line, sizeof(line), "%c%.*s\n", kind,
	    (int)(s.n < max ? s.n : max), s.p);
	fd = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC);
	/* A stack that has ended takes its notes with it. */
	if (fd == -1)
		return;
	if (write(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}

void
secrets_note(const char *s)
{
	note('S', str_of(s), NOTE_MAX);
}

/* Whether a variable with this name has a secret as its value. */
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
	 * The first of two variables with one name is what counts; a name at
	 * a server may be in its URL, though, and then be another.
	 */
	named = has_password(env, n);
	for (i = 0; i < NELEM(planted); i++) {
		if (!named || strstr(planted[i], "_API_KEY=") != NULL)
			env[n++] = planted[i];
	}
	for (i = 0; i < n; i++) {
		value = str_of(env[i]);
		name = str_split(&value, '=');
		note('S', names_secret(name) ? value : url_password(value),
		    NOTE_MAX);
	}
	return n;
}

static bool
is_plain(char c)
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
hear_text(struct str s)
{
	struct str best = { s.p, 0 };
	size_t i, from = 0;

	for (i = 0; i <= s.n; i++) {
		if (i < s.n && is_plain(s.p[i]))
			continue;
		if (i - from > best.n)
			best = (struct str){ s.p + from, i - from };
		from = i + 1;
	}
	/* A lone name is not user text. */
	if (str_find(best, STR(" ")) >= 0 || !is_ascii(best))
		note('U', best, WORDS_MAX);
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
hear(json_t *v)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(v))
		hear_text((struct str){
		    json_string_value(v), json_string_length(v) });
	json_array_foreach (v, i, item)
		hear(item);
	json_object_foreach (v, key, item) {
		if (!is_technical(key))
			hear(item);
	}
}

void
secrets_note_texts(const json_t *body)
{
	json_t *copy = json_deep_copy(body);

	hear(copy);
	json_decref(copy);
}

/* ---- finding ---------------------------------------------------------------
 */

/* The note, if the line has it; absent if not. */
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

/* All notes; absent if there is no stack. */
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
	/* Most logs have nothing. */
	if (secrets_scan(log, all, false).p == NULL)
		log.p = NULL;
	for (; log.p != NULL && what.p == NULL; n++) {
		line = str_split(&log, '\n');
		what = secrets_scan(
		    line, all, str_find(line, STR(" lvl=debug ")) >= 0);
	}
	if (what.p != NULL)
		snprintf(dst, size, "%s:%zu: tells %s \"%.*s\": %.*s", path, n,
		    what.p[0] == 'S' ? "the secret" : "a user's words",
		    (int)what.n - 1, what.p + 1,
		    (int)(line.n < 512 ? line.n : 512), line.p);
	free(text);
	return what.p != NULL;
}

/* The rig's own processes may say what they like. */
static bool
is_ours(const char *path)
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

	/* The launcher has the logs of its stack in a folder. */
	snprintf(pattern, sizeof(pattern), "%s/{,stack/log/}*.log", dir);
	if (glob(pattern, GLOB_BRACE, NULL, &g) != 0)
		return false;
	for (i = 0; i < g.gl_pathc && !found; i++) {
		if (!is_ours(g.gl_pathv[i]))
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
