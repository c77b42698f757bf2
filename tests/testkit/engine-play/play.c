/* The steps that print and end. */
#include "testkit/engine-play/play.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RECORD_BYTES 17

static const char play_filling[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";

long
play_number(const char *value)
{
	char *end;
	long n = strtol(value, &end, 10);

	if (*value == '\0' || *end != '\0' || n < 0) {
		fprintf(stderr, "engine-play: %s: not a number\n", value);
		exit(64);
	}
	return n;
}

void
play_wait(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (ms < 0)
		pause();
	while (ms > 0 && nanosleep(&t, &t) == -1)
		;
}

static FILE *
play_open(const char *path)
{
	FILE *f = fopen(path, "re");

	if (f == NULL) {
		perror(path);
		exit(66);
	}
	return f;
}

static void
play_write(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t w = write(fd, bytes, n);

		if (w <= 0)
			exit(74);
		bytes += w;
		n -= (size_t)w;
	}
}

static void
play_lines(const char *path, long pace_ms)
{
	FILE *f = play_open(path);
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, f)) > 0) {
		play_wait(pace_ms);
		play_write(1, line, (size_t)n);
	}
	free(line);
	fclose(f);
}

static void
play_copy(FILE *f, uint64_t n, int to)
{
	char bytes[65536];
	size_t got;

	while (n > 0 &&
	    (got = fread(bytes, 1, n < sizeof(bytes) ? n : sizeof(bytes), f)) >
		0) {
		play_write(to, bytes, got);
		n -= got;
	}
}

static void
play_file(const char *path)
{
	FILE *f = play_open(path);

	play_copy(f, UINT64_MAX, 1);
	fclose(f);
}

static FILE *
play_open_in(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return play_open(path);
}

static uint64_t
play_u64(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void
play_spool(const char *dir, long speed)
{
	FILE *journal = play_open_in(dir, "journal");
	FILE *streams[2] = { play_open_in(dir, "stdout"),
		play_open_in(dir, "stderr") };
	uint64_t at[2] = { 0, 0 }, last_ns = 0;
	unsigned char r[RECORD_BYTES];

	while (fread(r, sizeof(r), 1, journal) == 1) {
		uint64_t end = play_u64(r + 1), ns = play_u64(r + 9);

		if (r[0] > 1 || end < at[r[0]])
			exit(65);
		if (last_ns != 0 && ns > last_ns)
			play_wait((long)((ns - last_ns) / 1000000) / speed);
		last_ns = ns;
		play_copy(streams[r[0]], end - at[r[0]], r[0] + 1);
		at[r[0]] = end;
	}
	fclose(journal);
	fclose(streams[0]);
	fclose(streams[1]);
}

static void
play_line(long bytes)
{
	while (bytes > 0) {
		size_t n = sizeof(play_filling) - 1;

		if ((size_t)bytes < n)
			n = (size_t)bytes;
		play_write(1, play_filling, n);
		bytes -= (long)n;
	}
	play_write(1, "\n", 1);
}

/* Lines with the time at which they are written. */
static void
play_stamps(long n, long pace_ms)
{
	struct timespec t;

	while (n-- > 0) {
		play_wait(pace_ms);
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		printf("%lld\n", (long long)t.tv_sec * 1000000000 + t.tv_nsec);
	}
}

static void
play_add_text(FILE *f, const char *text, const struct timespec *t)
{
	const char *mark = strchr(text, '@');

	if (mark == NULL)
		fprintf(f, "%s\n", text);
	else
		fprintf(f, "%.*s%lld%s\n", (int)(mark - text), text,
		    (long long)t->tv_sec * 1000000000 + t->tv_nsec, mark + 1);
}

/* At a steady rate: a burst that is behind does not delay the next. */
static void
play_burst(char *value, long pace_ms)
{
	char *rest = value, *text = NULL;
	size_t size;
	long n = play_number(strsep(&rest, ",")), i;
	long together = play_number(rest != NULL ? strsep(&rest, ",") : "");
	long every = play_number(rest != NULL ? strsep(&rest, ",") : "");
	struct timespec at, t;
	FILE *f;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	for (i = 0; i < n && rest != NULL && together > 0 && every > 0;) {
		at.tv_nsec += pace_ms % 1000 * 1000000;
		at.tv_sec += pace_ms / 1000 + at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		while (clock_nanosleep(
			   CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
			;
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		f = open_memstream(&text, &size);
		for (long k = 0; k < together && i < n; k++)
			play_add_text(
			    f, ++i % every == 0 ? rest : play_filling, &t);
		(void)fclose(f);
		play_write(1, text, size);
		free(text);
	}
}

static void
play_die(int sig)
{
	(void)signal(sig, SIG_DFL);
	raise(sig);
	exit(70);
}

static void
play_on_term(int sig)
{
	(void)sig;
	(void)!write(1, "bye\n", 4);
	_exit(7);
}

/* Lines that are written at once, so that they are read at once. */
static void
play_hold(struct play *p)
{
	p->held = open_memstream(&p->held_text, &p->held_n);
	if (p->held == NULL)
		exit(71);
}

static void
play_release(struct play *p)
{
	if (p->held == NULL || fclose(p->held) != 0)
		exit(64);
	p->held = NULL;
	play_write(1, p->held_text, p->held_n);
	free(p->held_text);
}

/* Removed, so that it is no work of the engine's. */
static void
play_await(const char *name)
{
	while (unlink(name) != 0)
		play_wait(2);
}

/* Steps without a value. */
static int
play_word(struct play *p, const char *verb)
{
	char bytes[65536];
	ssize_t n;

	if (strcmp(verb, "endless") == 0)
		for (;;)
			play_line(1000);
	if (strcmp(verb, "silent") == 0)
		play_wait(-1);
	if (strcmp(verb, "echo") == 0) {
		while ((n = read(0, bytes, sizeof(bytes))) > 0)
			play_write(1, bytes, (size_t)n);
	} else if (strcmp(verb, "hold") == 0) {
		play_hold(p);
	} else if (strcmp(verb, "release") == 0) {
		play_release(p);
	} else if (strcmp(verb, "ignore") == 0) {
		(void)signal(SIGTERM, SIG_IGN);
	} else if (strcmp(verb, "polite") == 0) {
		(void)signal(SIGTERM, play_on_term);
	} else {
		return play_hostile(verb, "");
	}
	return 0;
}

static void
play_env(const char *name)
{
	const char *value = getenv(name);

	printf("%s=%s\n", name, value != NULL ? value : "(none)");
}

int
play_step(struct play *p, char *step)
{
	char *value = strchr(step, '=');

	if (value == NULL)
		return play_word(p, step);
	*value++ = '\0';
	if (strcmp(step, "out") == 0)
		fprintf(p->held != NULL ? p->held : stdout, "%s\n", value);
	else if (strcmp(step, "err") == 0)
		fprintf(stderr, "%s\n", value);
	else if (strcmp(step, "line") == 0)
		play_line(play_number(value));
	else if (strcmp(step, "file") == 0)
		play_file(value);
	else if (strcmp(step, "lines") == 0)
		play_lines(value, p->pace_ms);
	else if (strcmp(step, "spool") == 0)
		play_spool(value, p->speed);
	else if (strcmp(step, "stamps") == 0)
		play_stamps(play_number(value), p->pace_ms);
	else if (strcmp(step, "burst") == 0)
		play_burst(value, p->pace_ms);
	else if (strcmp(step, "pace") == 0)
		p->pace_ms = play_number(value);
	else if (strcmp(step, "speed") == 0)
		p->speed = play_number(value) > 0 ? play_number(value) : 1;
	else if (strcmp(step, "env") == 0)
		play_env(value);
	else if (strcmp(step, "await") == 0)
		play_await(value);
	else if (strcmp(step, "wait") == 0)
		play_wait(play_number(value));
	else if (strcmp(step, "exit") == 0)
		exit((int)play_number(value));
	else if (strcmp(step, "die") == 0)
		play_die((int)play_number(value));
	else
		return play_hostile(step, value);
	return 0;
}
