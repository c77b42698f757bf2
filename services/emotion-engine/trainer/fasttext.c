/*
 * Files for the program, the program, what it prints.
 */
#include "fasttext.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "emotion.h"
#include "learn.h"
#include "runes.h"

#define PREFIX    "__label__"
#define LABEL_MAX 4096

/* Units separated by blanks, as fastText wants them. */
static void
put_text(FILE *f, struct str text)
{
	uint32_t runes[1024];
	size_t i, n = runes_read(text, runes, NELEM(runes));
	char utf8[4] = { 0 };

	for (i = 0; i < n; i++) {
		if (i > 0 &&
		    !(rune_latin(runes[i]) && rune_latin(runes[i - 1])))
			(void)fputc(' ', f);
		(void)fwrite(utf8, 1, rune_write(runes[i], utf8), f);
	}
	(void)fputc('\n', f);
}

static void
put_rows(const char *path, const struct rows *r, bool dev)
{
	FILE *f = fopen(path, "we");
	size_t i;
	int times;

	if (f == NULL)
		return;
	for (i = 0; i < r->n; i++) {
		if (r->v[i].dev != dev)
			continue;
		times =
		    r->v[i].own && !dev ? (int)learn_defaults.own_weight : 1;
		for (; times > 0; times--) {
			if (!dev)
				(void)fprintf(f, PREFIX "%.*s ",
				    STR_ARG(wire_emotion_names[r->v[i].label]));
			put_text(f, r->v[i].text);
		}
	}
	(void)fclose(f);
}

static enum rc
run(const char *const argv[], const char *out)
{
	int status;
	pid_t pid;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (freopen(out, "w", stdout) == NULL ||
		    freopen("/dev/null", "w", stderr) == NULL)
			_exit(126);
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return RC_BUG;
	if (WEXITSTATUS(status) == 127)
		return RC_NOENT;
	return WEXITSTATUS(status) == 0 ? RC_OK : RC_BUG;
}

static enum rc
read_labels(const char *path, const struct rows *r, uint8_t *out)
{
	FILE *f = fopen(path, "re");
	char line[LABEL_MAX];
	size_t i, k = 0;

	if (f == NULL)
		return RC_BUG;
	for (i = 0; i < r->n; i++) {
		struct str s;

		if (!r->v[i].dev)
			continue;
		if (fgets(line, sizeof(line), f) == NULL)
			break;
		s = str_trim(str_of(line));
		for (k = 0; k < EMOTION_N; k++) {
			if (str_ends(s, wire_emotion_names[k]))
				out[i] = (uint8_t)k;
		}
	}
	(void)fclose(f);
	return i == r->n ? RC_OK : RC_BUG;
}

static enum rc
train_and_predict(const char *dir, const struct rows *r, uint8_t *out)
{
	char train[64], dev[64], model[64], bin[64], labels[64];
	const char *const learn_argv[] = { "fasttext", "supervised", "-input",
		train, "-output", model, "-dim", "16", "-epoch", "10", "-lr",
		"0.3", "-wordNgrams", "2", "-minn", "2", "-maxn", "4",
		"-bucket", "200000", "-thread", "1", NULL };
	const char *const guess_argv[] = { "fasttext", "predict", bin, dev,
		NULL };
	enum rc rc;

	(void)snprintf(train, sizeof(train), "%s/train", dir);
	(void)snprintf(dev, sizeof(dev), "%s/dev", dir);
	(void)snprintf(model, sizeof(model), "%s/model", dir);
	(void)snprintf(bin, sizeof(bin), "%s/model.bin", dir);
	(void)snprintf(labels, sizeof(labels), "%s/labels", dir);
	put_rows(train, r, false);
	put_rows(dev, r, true);
	rc = run(learn_argv, labels);
	if (rc == RC_OK)
		rc = run(guess_argv, labels);
	if (rc == RC_OK)
		rc = read_labels(labels, r, out);
	return rc;
}

enum rc
fasttext_guess(const struct rows *r, uint8_t *out, char *why, size_t size)
{
	static const char *const names[] = { "train", "dev", "model.bin",
		"model.vec", "labels" };
	char dir[] = "/tmp/fasttext.XXXXXX", path[64];
	enum rc rc;
	size_t i;

	if (mkdtemp(dir) == NULL) {
		(void)snprintf(why, size, "no temporary folder");
		return RC_DOWN;
	}
	rc = train_and_predict(dir, r, out);
	for (i = 0; i < NELEM(names); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
	(void)snprintf(why, size, "%s",
	    rc == RC_NOENT ? "not installed (Debian package fasttext)"
			   : "it failed");
	return rc;
}
