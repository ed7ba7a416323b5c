import Glibc

/// Reads a program's output by lines, on a thread of its own, as soon as it comes.
final class LineReader: Sendable {
    typealias Handler = @Sendable (_ line: UnsafeRawBufferPointer) -> Void
    private let descriptor: Int32
    private let onLine: Handler
    private let onEnd: @Sendable () -> Void

    private init(_ descriptor: Int32, _ onLine: @escaping Handler, _ onEnd: @escaping @Sendable () -> Void) {
        (self.descriptor, self.onLine, self.onEnd) = (descriptor, onLine, onEnd)
    }

    /// Takes over the descriptor. `onEnd` is called after the last line; false: there is no thread to be had.
    static func start(
        _ descriptor: Int32, onLine: @escaping Handler, onEnd: @escaping @Sendable () -> Void
    ) -> Bool {
        let reader = Unmanaged.passRetained(LineReader(descriptor, onLine, onEnd))
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<LineReader>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, reader.toOpaque())
        if failed != 0 {
            reader.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private func run() {
        var pending: [UInt8] = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { chunk.deallocate() }
        while true {
            let count = read(descriptor, chunk.baseAddress, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            var rest = UnsafeRawBufferPointer(rebasing: chunk[..<count])
            // memchr: in a debug build Swift's search takes longer than all that is done with the lines.
            while let start = rest.baseAddress, let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count) {
                let length = UnsafeRawPointer(end) - start
                let line = UnsafeRawBufferPointer(rebasing: rest[..<length])
                if pending.isEmpty {
                    onLine(line)
                } else {
                    pending.append(contentsOf: line)
                    pending.withUnsafeBytes(onLine)
                    pending.removeAll(keepingCapacity: true)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
            }
            pending.append(contentsOf: rest)
        }
        if !pending.isEmpty { pending.withUnsafeBytes(onLine) }
        close(descriptor)
        onEnd()
    }
}
