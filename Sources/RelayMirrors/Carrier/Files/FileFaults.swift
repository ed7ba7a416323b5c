import Glibc
package import RelayCore
/// What may happen to a channel's file, done on purpose: by tests, and by people who repair something.
package struct FileFaults: Sendable {
    private let place: FilePlace
    package init(_ channel: ChannelName, in carrier: FileCarrier) { place = carrier.place(of: channel) }

    /// The channel's file.
    package var path: String { place.path }

    /// The disk has all that there is now.
    package func sync() throws(RelayError) {
        try change { header, file throws(RelayError) in
            header.synced = header.last
            try file.write(header)
        }
    }
    /// What is behind the sync horizon was never there. Returns how many messages that were.
    @discardableResult package func forgetTail() throws(RelayError) -> UInt64 {
        try change { header, file throws(RelayError) in
            let kept = max(header.synced.number, header.first.number - 1)
            let count = header.last.number - kept
            if count > 0 { try file.forget(behind: header.synced, &header) }
            return count
        }
    }
    /// The channel is gone.
    package func delete() throws(RelayError) {
        try place.lockedNow { () throws(RelayError) in
            if unlink(place.path) != 0 && errno != ENOENT {
                throw ChannelFile.failure("cannot remove \(place.path)", errno)
            }
        }
    }
    /// The file as it is, to be put back by `restore`.
    package func copy() throws(RelayError) -> [UInt8] {
        try change { header, file throws(RelayError) in try file.read(at: 0, header.end) }
    }
    /// An older copy takes the file's place.
    ///
    /// - Parameter inPlace: by somebody who knows of no locks, into the same file.
    package func restore(_ copy: [UInt8], inPlace: Bool = false) throws(RelayError) {
        let path = inPlace ? place.path : place.path + ".old"
        try place.lockedNow { () throws(RelayError) in
            let number = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            if number < 0 { throw ChannelFile.failure("cannot make \(path)", errno) }
            _ = OwnedDescriptor(number)
            try ChannelFile(at: path, isWritten: true)?.write(copy, at: 0)
            if !inPlace, rename(path, place.path) != 0 { throw ChannelFile.failure("cannot rename \(path)", errno) }
        }
    }
    /// Somebody else appends.
    package func append(_ message: [UInt8]) throws(RelayError) {
        try change { header, file throws(RelayError) in
            let result = message.withUnsafeBytes { bytes in
                Result { () throws(RelayError) in try file.append(bytes, to: &header) }
            }
            try result.get()
        }
    }
    /// The carrier removes its oldest messages, up to a number.
    package func remove(through number: UInt64) throws(RelayError) {
        try change { header, file throws(RelayError) in try file.remove(through: number, &header) }
    }
    /// A writer dies in the middle of an append.
    package func tear(_ bytes: [UInt8]) throws(RelayError) {
        try change { header, file throws(RelayError) in try file.write(bytes, at: header.end) }
    }
    private func change<Value>(
        _ body: (inout ChannelHeader, ChannelFile) throws(RelayError) -> Value
    ) throws(RelayError) -> Value {
        try place.lockedNow { () throws(RelayError) in
            guard let file = try ChannelFile(at: place.path, isWritten: true), var header = try file.header() else {
                throw RelayError(.notFound, "there is no channel in \(place.path)")
            }
            return try body(&header, file)
        }
    }
}
