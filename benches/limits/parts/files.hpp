// Input files by name, complete reads at an offset, and an output directory that appears by one rename.
// Every failure ends the program with one line, because these programs only measure.
#pragma once
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

[[noreturn]] inline void die(const std::string& what) {
    fprintf(stderr, "%s%s%s\n", what.c_str(), errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

struct InputFile {
    std::string path;
    uint64_t size;
    int fd;
};

// Returns one file, or the files of a directory in order of name, without hidden files and names with `_`.
inline std::vector<InputFile> open_inputs(const std::string& path, int extra_flags = 0) {
    struct stat st;
    if (stat(path.c_str(), &st)) die(path);
    std::vector<std::string> names;
    if (S_ISDIR(st.st_mode)) {
        DIR* dir = opendir(path.c_str());
        if (!dir) die(path);
        while (dirent* e = readdir(dir))
            if (e->d_name[0] != '.' && e->d_name[0] != '_') names.push_back(path + "/" + e->d_name);
        closedir(dir);
        std::sort(names.begin(), names.end());
    } else {
        names.push_back(path);
    }
    std::vector<InputFile> files;
    for (auto& name : names) {
        int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC | extra_flags);
        if (fd < 0 || fstat(fd, &st)) die(name);
        if (S_ISREG(st.st_mode)) files.push_back({name, (uint64_t)st.st_size, fd});
        else close(fd);
    }
    return files;
}

// Reads `bytes` or up to the end of the file, and returns the number of bytes read.
inline size_t read_at(int fd, void* to, size_t bytes, uint64_t offset) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pread(fd, (char*)to + done, bytes - done, offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) die("read");
        if (n == 0) break;
        done += n;
    }
    return done;
}

inline void write_at(int fd, const void* from, size_t bytes, uint64_t offset) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pwrite(fd, (const char*)from + done, bytes - done, offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) die("write");
        done += n;
    }
}

// Output directory, named OUT.tmp until commit() renames it to OUT.
class OutputDir {
  public:
    explicit OutputDir(std::string final_path) : path_(std::move(final_path)) {
        struct stat st;
        if (!stat(path_.c_str(), &st)) { errno = EEXIST; die(path_); }
        if (mkdir((path_ + ".tmp").c_str(), 0777)) die(path_ + ".tmp");
    }
    // Creates part-r-NNNNN, and allocates a known size at once.
    int create_part(int number, uint64_t bytes = 0, int extra_flags = 0) {
        char name[32];
        snprintf(name, sizeof name, "/part-r-%05d", number);
        return create_file(path_ + ".tmp" + name, bytes, extra_flags);
    }
    static int create_file(const std::string& path, uint64_t bytes, int extra_flags = 0) {
        int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | extra_flags, 0666);
        if (fd < 0) die(path);
        if (bytes && fallocate(fd, 0, 0, bytes) && errno == ENOSPC) die(path);
        errno = 0;
        return fd;
    }
    std::string temporary() const { return path_ + ".tmp"; }
    void commit() {
        if (rename((path_ + ".tmp").c_str(), path_.c_str())) die(path_);
    }

  private:
    std::string path_;
};
