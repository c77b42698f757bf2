/*
 * emotion-trainer: trains and measures the recogniser's weights.
 *
 *	emotion-trainer train OUT [EXTERNAL]
 *	emotion-trainer bench [EXTERNAL]
 *
 * Runs in the root of the repository; EXTERNAL is the folder of the external
 * set.  bench measures the weights in the program.
 */
#include <stdio.h>

#include "trainer/trainer.h"

int
main(int argc, char *argv[])
{
	struct str what = str_of(argc > 1 ? argv[1] : "");
	struct rows r = { 0 };
	int rc = 64;

	if (str_eq(what, STR("train")) && (argc == 3 || argc == 4))
		rc = rows_load(&r, argv[3]) != 0 ||
		    learn_to_file(&r, argv[2]) != 0;
	else if (str_eq(what, STR("bench")) && (argc == 2 || argc == 3))
		rc = rows_load(&r, argv[2]) != 0 || bench_print(&r) != 0;
	else
		(void)fprintf(stderr,
		    "usage: emotion-trainer train OUT [EXTERNAL] | "
		    "bench [EXTERNAL]\n");
	rows_free(&r);
	return rc;
}
