import Glibc
package import RelayCore

/// Channels as files in a directory, which programs of one user share: on one host, or on a file system that hosts share
/// and that has locks.
///
/// Each channel has a folder, `host/service/interface`. See "Channels in files" in MIRRORS.md.
package struct FileCarrier: MirrorCarrier {
    package let directory: String
    private let limit: Int?
    private let syncInterval: Duration?

    /// Makes the directory, for its user alone, where it is missing.
    ///
    /// - Parameters:
    ///   - limit: how many bytes of messages a channel keeps; nil: all of them.
    ///   - syncInterval: how long what was appended may stay without the disk; nil: nobody syncs.
    package init(
        directory: String, keeping limit: Int? = nil, syncingAfter syncInterval: Duration? = .seconds(1)
    ) throws(RelayError) {
        (self.directory, self.limit, self.syncInterval) = (directory, limit, syncInterval)
        try FilePlace.makeDirectory(directory)
        var status = stat()
        if stat(directory, &status) != 0 { throw ChannelFile.failure("cannot examine \(directory)", errno) }
        var fault: String?
        if status.st_mode & S_IFMT != S_IFDIR {
            fault = "is no directory: give the carrier one of its own"
        } else if status.st_uid != geteuid() && status.st_uid != 0 {
            fault = "belongs to user \(status.st_uid), who could replace what mirrors read: use one of this user's"
        } else if status.st_mode & 0o022 != 0 {
            fault = "can be written by others, who could replace what mirrors read: chmod go-w \(directory)"
        }
        if let fault { throw RelayError(.invalidArgument, "\(directory) \(fault)") }
    }
    func place(of channel: ChannelName) -> FilePlace {
        FilePlace(directory, channel, limit: limit, syncInterval: syncInterval)
    }
    package func source(of channel: ChannelName) throws(RelayError) -> any MirrorSource {
        try FileConnection(place(of: channel), isWriter: false)
    }
    package func sink(of channel: ChannelName) throws(RelayError) -> any MirrorSink {
        try FileConnection(place(of: channel), isWriter: true)
    }
    package func channels() throws(RelayError) -> [ChannelName] {
        var channels: [ChannelName] = []
        for host in try Self.folders(in: directory) {
            for service in try Self.folders(in: "\(directory)/\(host)") {
                for interface in try Self.folders(in: "\(directory)/\(host)/\(service)") {
                    // What has other names is none of the carrier's.
                    let name = Result { () throws(RelayError) in
                        try ChannelName(host: host, service: service, interface: interface)
                    }
                    if case .success(let channel) = name { channels.append(channel) }
                }
            }
        }
        return channels.sorted()
    }
    package func guarantee() -> String {
        guard let syncInterval else { return "a folder whose files nobody syncs: a power cut may lose what it had" }
        return
            "a folder whose files are synced after \(syncInterval / .seconds(1)) s at the latest: a power cut may lose what it had "
            + "acknowledged since"
    }
    private static func folders(in path: String) throws(RelayError) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOTDIR || errno == ENOENT { return [] }
            throw ChannelFile.failure("cannot read the directory \(path)", errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                // The name ends with a NUL within the tuple that C's array is in Swift.
                tuple.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)) {
                    String(cString: $0)
                }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
