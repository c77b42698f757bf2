/*
 * One pass over the arguments.
 */
#include "flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct flag *
find(const struct flag *flags, size_t n, const char *arg)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (strcmp(flags[i].name, arg) == 0)
			return &flags[i];
	}
	return NULL;
}

static int
arguments_of(const struct flag *f)
{
	int n = 0;

	while (f->fixed == NULL && n < FLAG_ARGS_MAX && f->env[n] != NULL)
		n++;
	return n;
}

enum rc
flags_apply(const struct flag *flags, size_t n, int *argc, char *argv[])
{
	int from, to = 1, i, takes;

	for (from = 1; from < *argc; from++) {
		const struct flag *f = find(flags, n, argv[from]);

		if (f == NULL) {
			argv[to++] = argv[from];
			continue;
		}
		takes = arguments_of(f);
		if (from + takes >= *argc) {
			fprintf(stderr, "%s: %s wants %d argument%s\n", argv[0],
			    f->name, takes, takes == 1 ? "" : "s");
			return RC_INVALID;
		}
		if (f->fixed != NULL)
			setenv(f->env[0], f->fixed, 1);
		for (i = 0; i < takes; i++)
			setenv(f->env[i], argv[++from], 1);
	}
	argv[to] = NULL;
	*argc = to;
	return RC_OK;
}
