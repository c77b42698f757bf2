/*
 * shim_spec: strings "key=value", each with its NUL.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "procsup/shim_internal.h"
#include "procsup/shim_spec.h"

#define SPEC_AT(member) offsetof(struct procsup_spec, member)

static const struct {
	const char *key;
	size_t at;
} spec_texts[] = {
	{ "dir", SPEC_AT(dir) },
	{ "mark", SPEC_AT(mark) },
	{ "cwd", SPEC_AT(cwd) },
	{ "stdin", SPEC_AT(stdin_path) },
	{ "workspace", SPEC_AT(limits.workspace) },
};
static const struct {
	const char *key;
	size_t at;
} spec_numbers[] = {
	{ "stdin_grace_ms", SPEC_AT(stdin_grace_ms) },
	{ "run_ms", SPEC_AT(limits.run_ms) },
	{ "idle_ms", SPEC_AT(limits.idle_ms) },
	{ "output_bytes", SPEC_AT(limits.output_bytes) },
	{ "workspace_bytes", SPEC_AT(limits.workspace_bytes) },
	{ "workspace_files", SPEC_AT(limits.workspace_files) },
	{ "file_bytes", SPEC_AT(sandbox.file_bytes) },
	{ "cpu_s", SPEC_AT(sandbox.cpu_s) },
	{ "processes", SPEC_AT(sandbox.processes) },
	{ "descriptors", SPEC_AT(sandbox.descriptors) },
};

static void
spec_put(const char *key, const char *value, struct buf *out)
{
	if (value == NULL)
		return;
	buf_printf(out, "%s=%s", key, value);
	buf_putc(out, '\0');
}

static void
spec_put_number(const char *key, int64_t v, struct buf *out)
{
	char text[STR_NUM_MAX];

	(void)str_num(v, text);
	spec_put(key, text, out);
}

void
shim_spec_write(const struct procsup_spec *s, int64_t grace_ms, struct buf *out)
{
	const char *text;
	int64_t v;
	size_t i;

	for (i = 0; i < NELEM(spec_texts); i++) {
		memcpy(&text, (const char *)s + spec_texts[i].at, sizeof(text));
		spec_put(spec_texts[i].key, text, out);
	}
	for (i = 0; i < NELEM(spec_numbers); i++) {
		memcpy(&v, (const char *)s + spec_numbers[i].at, sizeof(v));
		spec_put_number(spec_numbers[i].key, v, out);
	}
	spec_put_number("grace_ms", grace_ms, out);
	spec_put_number("tcp_port", s->sandbox.tcp_port, out);
	spec_put("mode", sandbox_mode_name(s->sandbox.mode), out);
	for (i = 0; i < SANDBOX_PATHS_MAX; i++)
		spec_put("read", s->sandbox.read[i], out);
	for (i = 0; i < SANDBOX_PATHS_MAX; i++)
		spec_put("write", s->sandbox.write[i], out);
	for (i = 0; s->argv[i] != NULL; i++)
		spec_put("argv", s->argv[i], out);
	for (i = 0; s->env[i] != NULL; i++)
		spec_put("env", s->env[i], out);
}

static enum rc
spec_read_path(const char *paths[SANDBOX_PATHS_MAX], const char *value)
{
	for (size_t i = 0; i < SANDBOX_PATHS_MAX; i++)
		if (paths[i] == NULL) {
			paths[i] = value;
			return RC_OK;
		}
	return RC_TOOBIG;
}

static enum rc
spec_read_number(struct shim_spec *s, struct str key, struct str value)
{
	int64_t v;

	if (str_to_i64(value, -1, INT64_MAX, &v) != RC_OK)
		return RC_INVALID;
	for (size_t i = 0; i < NELEM(spec_numbers); i++) {
		if (!str_eq(key, str_of(spec_numbers[i].key)))
			continue;
		memcpy((char *)&s->spec + spec_numbers[i].at, &v, sizeof(v));
		return RC_OK;
	}
	if (str_eq(key, STR("grace_ms")))
		s->grace_ms = v;
	else if (str_eq(key, STR("tcp_port")) && v <= UINT16_MAX)
		s->spec.sandbox.tcp_port = (int)v;
	else
		return RC_INVALID;
	return RC_OK;
}

/* value ends with a NUL. */
static enum rc
spec_read_pair(struct shim_spec *s, struct str key, struct str value)
{
	for (size_t i = 0; i < NELEM(spec_texts); i++) {
		if (!str_eq(key, str_of(spec_texts[i].key)))
			continue;
		memcpy((char *)&s->spec + spec_texts[i].at, &value.p,
		    sizeof(value.p));
		return RC_OK;
	}
	if (str_eq(key, STR("mode")))
		return sandbox_mode_parse(value, &s->spec.sandbox.mode);
	if (str_eq(key, STR("read")))
		return spec_read_path(s->spec.sandbox.read, value.p);
	if (str_eq(key, STR("write")))
		return spec_read_path(s->spec.sandbox.write, value.p);
	if (str_eq(key, STR("argv")) && s->argc < PROCSUP_STRINGS_MAX)
		s->argv[s->argc++] = value.p;
	/* One more: the mark. */
	else if (str_eq(key, STR("env")) && s->envc <= PROCSUP_STRINGS_MAX)
		s->env[s->envc++] = value.p;
	else
		return spec_read_number(s, key, value);
	return RC_OK;
}

enum rc
shim_spec_read(struct shim_spec *s, struct str bytes)
{
	struct str rest, value, key;
	enum rc rc = RC_OK;

	*s = (struct shim_spec){ 0 };
	s->bytes = str_dup(bytes);
	s->argv = mem_calloc(PROCSUP_STRINGS_MAX + 1, sizeof(*s->argv));
	s->env = mem_calloc(PROCSUP_STRINGS_MAX + 2, sizeof(*s->env));
	if (bytes.n == 0 || bytes.p[bytes.n - 1] != '\0')
		return RC_INVALID;
	rest = (struct str){ s->bytes, bytes.n };
	while (rest.n > 0 && rc == RC_OK) {
		value = str_split(&rest, '\0');
		key = str_split(&value, '=');
		rc = value.p != NULL ? spec_read_pair(s, key, value)
				     : RC_INVALID;
	}
	s->spec.argv = s->argv;
	s->spec.env = s->env;
	return rc == RC_OK ? procsup_spec_check(&s->spec) : rc;
}

enum rc
shim_spec_read_file(struct shim_spec *s, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *bytes;
	enum rc rc;

	*s = (struct shim_spec){ 0 };
	if (size <= 0 || size > SHIM_SPEC_FILE_MAX)
		return RC_INVALID;
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return RC_INVALID;
	rc = shim_spec_read(s, (struct str){ bytes, (size_t)size });
	(void)munmap(bytes, (size_t)size);
	return rc;
}

void
shim_spec_free(struct shim_spec *s)
{
	free(s->bytes);
	free(s->argv);
	free(s->env);
}
