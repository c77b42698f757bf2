/*
 * sock: the descriptors of a server's connections, which civetweb does not
 * tell.  They are found by their addresses among all that are open.  Private.
 */
#ifndef HTTPD_SOCK_H
#define HTTPD_SOCK_H

#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>

/* sock_dir(): What sock_next() walks; NULL (logged) without /proc. */
DIR *sock_dir(void);

/* sock_next(dir): The next descriptor, or -1 at the end. */
int sock_next(DIR *dir);

/*
 * sock_peer(fd, port, peer):
 * Whether fd is, at this moment, the end of an IPv4 connection to that port of
 * ours; *peer is then the other end.
 */
bool sock_peer(int fd, int port, struct sockaddr_in *peer);

#endif /* !HTTPD_SOCK_H */
