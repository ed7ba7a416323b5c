import Glibc

/// New folders, and the power: a synced file is lost with a folder whose own name never reached the disk.
package enum FolderSync {
    /// Syncs the folder that has a path's last name.
    ///
    /// - Returns: the kernel's error, or 0: also where the file system cannot sync a folder, and where this user may
    ///   make files but not read, so that it cannot open the folder.
    package static func parent(of path: String) -> Int32 {
        var name = path[...]
        while name.count > 1, name.last == "/" { name.removeLast() }
        let parent = name.lastIndex(of: "/").map { $0 == name.startIndex ? "/" : String(name[..<$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 { return errno == EACCES ? 0 : errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }
}
