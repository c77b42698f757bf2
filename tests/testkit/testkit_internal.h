/*
 * testkit_internal: what the testkit's own files share; tests include testkit.h
 * only.
 */
#ifndef TESTKIT_INTERNAL_H
#define TESTKIT_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Make this test's folder, or remove it with all it holds. */
void tk_dir_make(void);
void tk_dir_remove(void);

/*
 * From now on the present folder, children and ports belong to the program: the
 * functions around them leave them alone.  And the end of that.
 */
void tk_dir_share(void);
void tk_dir_unshare(void);
void tk_proc_share(void);
void tk_proc_unshare(void);
void tk_port_share(void);

/* In the forked test: children of the program are not its own to end. */
void tk_proc_disown(void);

/* Print the end of every *.log of the folder on stderr. */
void tk_dir_show_logs(void);

/* The name of a *.log with a sanitizer's report in it, or NULL. */
const char *tk_dir_sanitizer_log(void);

/*
 * Kill and reap the children this process started with tk_spawn(); with
 * them gone, how many other descendants of this process are still alive.
 */
void tk_proc_end_own(void);
int tk_proc_end_strays(void);

/* Give back the ports that tk_port() reserved. */
void tk_port_release(void);

/* Sleep some milliseconds, at most 5, between two looks at a condition. */
void tk_nap(int ms);

/* Monotonic milliseconds. */
long long tk_now_ms(void);

#endif /* !TESTKIT_INTERNAL_H */
