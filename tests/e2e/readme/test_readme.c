/*
 * Every command of the README and of the pages it links to is run, in order,
 * and prints what the page shows.
 *
 * Blocks marked sh are commands, all run by one shell; a block marked json or
 * text is the output of the commands before it; a block marked bash is a
 * program, saved under the name in its second line. Ports and output files are
 * replaced, so that the test can run beside a stack.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/stack/secrets.h"
#include "testkit/testkit.h"

#define BLOCKS_MAX 64
#define TEXT_MAX   (1024 * 1024)

struct block {
	char lang[16];
	char *text;
	int line;
};

struct readme {
	const char *path;
	struct block blocks[BLOCKS_MAX];
	size_t n;
	size_t headings, rows;
};

static void
read_blocks(struct readme *r, const char *path)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	char *all = tk_read_file(path, NULL), *save = NULL, *line;
	struct block *b = NULL;
	int number = 0;

	*r = (struct readme){ .path = path };
	for (line = all; line != NULL && *line != '\0'; line = save) {
		save = strchr(line, '\n');
		if (save != NULL)
			*save++ = '\0';
		number++;
		if (strncmp(line, "```", 3) == 0 && b == NULL) {
			ck_assert_uint_lt(r->n, BLOCKS_MAX);
			b = &r->blocks[r->n++];
			snprintf(b->lang, sizeof(b->lang), "%s", line + 3);
			b->line = number;
		} else if (strncmp(line, "```", 3) == 0) {
			b->text = str_dup(buf_str(&text));
			if (b->text == NULL)
				b->text = mem_strdup("");
			buf_reset(&text);
			b = NULL;
		} else if (b != NULL) {
			buf_printf(&text, "%s\n", line);
		} else {
			r->headings += line[0] == '#';
			r->rows += line[0] == '|';
		}
	}
	ck_assert_msg(b == NULL, "%s:%d: a block has no end", path, number);
	buf_free(&text);
	free(all);
}

static void
free_blocks(struct readme *r)
{
	while (r->n > 0)
		free(r->blocks[--r->n].text);
}

static bool
is(const struct block *b, const char *lang)
{
	return strcmp(b->lang, lang) == 0;
}

/* Installation and builds, which make test-fresh runs. */
static bool
is_build(const struct block *b)
{
	return is(b, "sh") &&
	    (strstr(b->text, "make test") != NULL ||
		strstr(b->text, "apt-get") != NULL);
}

static const char *
c_string(struct buf *b)
{
	buf_putc(b, '\0');
	return b->p;
}

/* ---- replacing ports and files ---- */

#define PORTS_MAX 64

static int ports[PORTS_MAX];
static size_t n_ports;

/* The ports of deploy/stack's table. */
static void
read_ports(void)
{
	char *all = tk_read_file("deploy/stack", NULL), *line, *rest;
	int port;

	n_ports = 0;
	for (line = strtok_r(all, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "port %*s %d", &port) != 1)
			continue;
		ck_assert_uint_lt(n_ports, PORTS_MAX);
		ports[n_ports++] = port;
	}
	free(all);
	ck_assert_uint_gt(n_ports, 0);
}

/* The number at p if it is exactly a port of the stack, or 0. */
static int
port_at(const char *text, const char *p)
{
	char *end;
	long n;
	size_t k;

	if (p > text && p[-1] >= '0' && p[-1] <= '9')
		return 0;
	n = strtol(p, &end, 10);
	for (k = 0; k < n_ports; k++) {
		if (end == p + 4 && n == ports[k])
			return ports[k];
	}
	return 0;
}

/* The commands, with ports and files replaced. */
static void
move(const char *text, int shift, struct buf *out)
{
	static const char bin[] = "build/bin/", file[] = "build/";
	const char *p = text;
	int port;

	while (*p != '\0') {
		port = port_at(text, p);
		if (port != 0) {
			buf_printf(out, "%d", port + shift);
			p += 4;
		} else if (strncmp(p, bin, strlen(bin)) == 0) {
			buf_printf(out, "%s", tk_bin(""));
			p += strlen(bin);
		} else if (strncmp(p, file, strlen(file)) == 0) {
			buf_printf(out, "%s/", tk_dir());
			p += strlen(file);
		} else {
			buf_putc(out, *p++);
		}
	}
}

/* Save a program under the name in its second line: "# build/x.sh: …". */
static void
save(const struct block *b, int shift)
{
	const char *name = strchr(b->text, '\n');
	struct buf text = BUF_INIT(TEXT_MAX), path = BUF_INIT(4096);

	ck_assert_msg(name != NULL && strncmp(name, "\n# build/", 9) == 0,
	    "line %d: no name in the program's second line", b->line);
	buf_printf(&path, "%s/%.*s", tk_dir(), (int)strcspn(name + 9, ": \n"),
	    name + 9);
	move(b->text, shift, &text);
	tk_write_file(c_string(&path), c_string(&text));
	buf_free(&text);
	buf_free(&path);
}

/* ---- running ---- */

static const char *
output_of(size_t i)
{
	char name[32];

	snprintf(name, sizeof(name), "out.%zu", i);
	return tk_path(name);
}

/* One script with all commands; block i prints to output_of(i). */
static void
write_script(const struct readme *r, int shift, const char *path)
{
	struct buf s = BUF_INIT(TEXT_MAX);
	size_t i;

	buf_puts(&s, "set -e\ntrap 'make down >/dev/null' EXIT\n");
	for (i = 0; i < r->n; i++) {
		if (is(&r->blocks[i], "bash"))
			save(&r->blocks[i], shift);
		if (!is(&r->blocks[i], "sh") || is_build(&r->blocks[i]))
			continue;
		buf_printf(
		    &s, "echo '%s:%d' >&2\n{\n", r->path, r->blocks[i].line);
		move(r->blocks[i].text, shift, &s);
		buf_printf(&s, "} >'%s'\n", output_of(i));
	}
	buf_puts(&s, "trap - EXIT\n");
	tk_write_file(path, c_string(&s));
	buf_free(&s);
}

static void
check_output(const struct readme *r, size_t i)
{
	const struct block *b = &r->blocks[i];
	char *got = tk_read_file(output_of(i - 1), NULL);
	json_t *want, *have;

	if (is(b, "text")) {
		ck_assert_msg(strcmp(got, b->text) == 0, "%s:%d: printed\n%s",
		    r->path, b->line, got);
	} else {
		want = json_loads(b->text, 0, NULL);
		have = json_loads(got, 0, NULL);
		ck_assert_msg(want != NULL && json_equal(want, have),
		    "%s:%d: printed\n%s", r->path, b->line, got);
		json_decref(want);
		json_decref(have);
	}
	free(got);
}

/* User texts of the commands, in quotes or on lines of their own. */
static void
collect_user_texts(const struct readme *r)
{
	char *text, *word, *rest;
	json_t *j;
	size_t i;

	for (i = 0; i < r->n; i++) {
		text = mem_strdup(r->blocks[i].text);
		for (word = strtok_r(text, "\"'\n", &rest);
		     word != NULL && is(&r->blocks[i], "sh");
		     word = strtok_r(NULL, "\"'\n", &rest)) {
			/* User texts are Chinese here; logs are not. */
			if (strpbrk(word, "\xe4\xe5\xe6\xe7\xe8\xe9") == NULL)
				continue;
			j = json_string(word);
			secrets_note_texts(j);
			json_decref(j);
		}
		free(text);
	}
}

/* Run a page; outputs is the number of its output blocks. */
static void
run_page(const char *page, size_t outputs)
{
	char shift_env[64], dir_env[512];
	const char *argv[] = { "bash", tk_path("script"), NULL };
	const char *env[] = { shift_env, dir_env, NULL };
	struct readme r;
	const char *leaked;
	struct tk_proc p;
	size_t i, n = 0;
	int shift;

	read_ports();
	shift = tk_port_shift(ports, n_ports);
	read_blocks(&r, page);
	secrets_begin();
	collect_user_texts(&r);
	write_script(&r, shift, argv[1]);
	snprintf(shift_env, sizeof(shift_env), "PORT_SHIFT=%d", shift);
	snprintf(dir_env, sizeof(dir_env), "STACK_DIR=%s", tk_path("stack"));
	tk_spawn(&p, "readme", argv, env);
	ck_assert_int_eq(tk_wait(&p, 200000), 0);
	for (i = 1; i < r.n; i++) {
		if (is(&r.blocks[i], "json") || is(&r.blocks[i], "text")) {
			ck_assert(is(&r.blocks[i - 1], "sh"));
			check_output(&r, i);
			n++;
		}
	}
	ck_assert_uint_eq(n, outputs);
	leaked = secrets_leaked();
	ck_assert_msg(leaked == NULL, "%s", leaked);
	free_blocks(&r);
}

TEST_T(the_readme_prints_the_documented_output, 240)
{
	run_page("README.md", 4);
}

TEST_T(the_tutorial_prints_the_documented_output, 240)
{
	run_page("docs/tutorial.md", 12);
}

TEST_T(access_control_prints_the_documented_output, 240)
{
	run_page("docs/access-control.md", 2);
}

/* From a clone to a chat: make up, a soul for the device, a message. */
TEST(a_chat_takes_four_commands_at_most)
{
	struct readme r;
	size_t i, commands = 1; /* git clone */
	bool chatted = false;

	read_blocks(&r, "README.md");
	for (i = 0; i < r.n && !chatted; i++) {
		if (!is(&r.blocks[i], "sh") || is_build(&r.blocks[i]))
			continue;
		commands++;
		chatted = strstr(r.blocks[i].text, "/v1/chat") != NULL;
	}
	ck_assert(chatted);
	ck_assert_uint_le(commands, 4);
	free_blocks(&r);
}

static void
check_languages(const char *english, const char *chinese)
{
	struct readme en, zh;
	size_t i;

	read_blocks(&en, english);
	read_blocks(&zh, chinese);
	ck_assert_uint_eq(en.n, zh.n);
	ck_assert_uint_eq(en.headings, zh.headings);
	ck_assert_uint_eq(en.rows, zh.rows);
	for (i = 0; i < en.n; i++) {
		ck_assert_str_eq(en.blocks[i].lang, zh.blocks[i].lang);
		/* Only the diagram and the first commands contain text. */
		if (en.blocks[i].lang[0] == '\0' || is_build(&en.blocks[i]))
			continue;
		ck_assert_msg(strcmp(en.blocks[i].text, zh.blocks[i].text) == 0,
		    "%s:%d and %s:%d differ", english, en.blocks[i].line,
		    chinese, zh.blocks[i].line);
	}
	free_blocks(&en);
	free_blocks(&zh);
}

TEST(both_languages_have_the_same_commands)
{
	check_languages("README.md", "README.zh.md");
	check_languages("docs/tutorial.md", "docs/zh/tutorial.md");
	check_languages("docs/deployment.md", "docs/zh/deployment.md");
	check_languages("docs/access-control.md", "docs/zh/access-control.md");
	check_languages("docs/limits.md", "docs/zh/limits.md");
	check_languages("docs/clients.md", "docs/zh/clients.md");
	check_languages("docs/privacy.md", "docs/zh/privacy.md");
}

TEST(the_readme_has_at_most_200_lines)
{
	static const char *const pages[] = { "README.md", "README.zh.md" };
	size_t i, lines;

	for (i = 0; i < NELEM(pages); i++) {
		char *text = tk_read_file(pages[i], NULL);
		const char *p;

		for (lines = 0, p = text; *p != '\0'; p++)
			lines += *p == '\n';
		ck_assert_uint_le(lines, 200);
		free(text);
	}
}

TEST(the_device_has_at_most_sixty_lines)
{
	struct readme r;
	size_t i, lines, found = 0;
	const char *p;

	read_blocks(&r, "docs/tutorial.md");
	for (i = 0; i < r.n; i++) {
		if (!is(&r.blocks[i], "bash"))
			continue;
		found++;
		lines = 0;
		for (p = r.blocks[i].text; *p != '\0'; p++)
			lines += *p == '\n';
		ck_assert_uint_le(lines, 60);
	}
	ck_assert_uint_eq(found, 1);
	free_blocks(&r);
}
