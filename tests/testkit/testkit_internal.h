/*
 * testkit_internal: shared by the testkit's own files; tests include testkit.h
 * only.
 */
#ifndef TESTKIT_INTERNAL_H
#define TESTKIT_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

/* Create or remove the test's folder with its contents. */
void tk_dir_make(void);
void tk_dir_remove(void);

/*
 * Mark the present folder, children and ports as the program's, so that the
 * functions around them leave them alone; and end that.
 */
void tk_dir_share(void);
void tk_dir_unshare(void);
void tk_proc_share(void);
void tk_proc_unshare(void);
void tk_port_share(void);

/* In the forked test: children of the program are not the test's to end. */
void tk_proc_disown(void);

/* Print the end of every *.log of the folder on stderr. */
void tk_dir_show_logs(void);

/* The name of a *.log that contains a sanitizer report, or NULL. */
const char *tk_dir_sanitizer_log(void);

/*
 * Kill and reap the children that this process started with tk_spawn(); returns
 * how many other descendants are still alive after that.
 */
void tk_proc_end_own(void);
int tk_proc_end_strays(void);

/* Release the ports that tk_port() reserved. */
void tk_port_release(void);

/* Sleep some milliseconds, at most 5, between two polls of a condition. */
void tk_nap(int ms);

/* Monotonic milliseconds. */
long long tk_now_ms(void);

#endif /* !TESTKIT_INTERNAL_H */
