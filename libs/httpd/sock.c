#include "httpd/sock.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "core/log.h"
#include "core/str.h"

DIR *
sock_dir(void)
{
	DIR *dir = opendir("/proc/self/fd");

	if (dir == NULL)
		log_warn("httpd.no_proc", LOG_S("need", "/proc/self/fd"));
	return dir;
}

int
sock_next(DIR *dir)
{
	struct dirent *e;
	int64_t fd;

	while ((e = readdir(dir)) != NULL)
		if (str_to_i64(str_of(e->d_name), 0, INT32_MAX, &fd) == RC_OK)
			return (int)fd;
	return -1;
}

bool
sock_peer(int fd, int port, struct sockaddr_in *peer)
{
	struct sockaddr_in own;
	socklen_t own_len = sizeof(own), peer_len = sizeof(*peer);

	return getsockname(fd, (struct sockaddr *)(void *)&own, &own_len) ==
	    0 &&
	    own.sin_family == AF_INET && ntohs(own.sin_port) == port &&
	    getpeername(fd, (struct sockaddr *)(void *)peer, &peer_len) == 0 &&
	    peer->sin_family == AF_INET;
}
