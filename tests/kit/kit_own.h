/*
 * kit_own: what the kit's own files share; tests include kit.h only.
 */
#ifndef KIT_KIT_OWN_H
#define KIT_KIT_OWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Make this test's folder, or remove it with all it holds. */
void kit_dir_make(void);
void kit_dir_remove(void);

/*
 * From now on the present folder, children and ports belong to the program: the
 * functions around them leave them alone.  And the end of that.
 */
void kit_dir_share(void);
void kit_dir_unshare(void);
void kit_proc_share(void);
void kit_proc_unshare(void);
void kit_port_share(void);

/* In the forked test: children of the program are not its own to end. */
void kit_proc_disown(void);

/* Print the end of every *.log of the folder on stderr. */
void kit_dir_show_logs(void);

/* The name of a *.log with a sanitizer's report in it, or NULL. */
const char *kit_dir_sanitizer_log(void);

/*
 * Kill and reap the children this process started with kit_spawn(); with
 * them gone, how many other descendants of this process are still alive.
 */
void kit_proc_end_own(void);
int kit_proc_end_strays(void);

/* Give back the ports that kit_port() reserved. */
void kit_port_release(void);

/* Sleep some milliseconds, at most 5, between two looks at a condition. */
void kit_nap(int ms);

/* Monotonic milliseconds. */
long long kit_now_ms(void);

#endif /* !KIT_KIT_OWN_H */
