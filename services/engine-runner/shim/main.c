/*
 * engine-shim: what an engine-runner starts for each attempt.  A program of its
 * own, since the runner's libraries take the linker longer than all the rest of
 * a start.
 */
#include <stdio.h>
#include <string.h>

#include "procsup/procsup.h"

int
main(int argc, char *argv[])
{
	if (argc < 3 || strcmp(argv[1], "shim") != 0) {
		(void)fputs(
		    "engine-shim is started by engine-runner\n", stderr);
		return 64;
	}
	return procsup_shim_main(argc - 1, argv + 1);
}
