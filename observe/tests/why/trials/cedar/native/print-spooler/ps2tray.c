#include <unistd.h>

int main(void)
{
    char b[8192];
    long lines = 0;

    for (ssize_t n; (n = read(0, b, sizeof b)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            lines += b[i] == '\n';
    return lines > 0 ? 0 : 1;
}
