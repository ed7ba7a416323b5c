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
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { break }
            var rest = chunk[..<count]
            while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                pending.append(contentsOf: rest[..<newline])
                pending.withUnsafeBytes(onLine)
                pending.removeAll(keepingCapacity: true)
                rest = rest[(newline + 1)...]
            }
            pending.append(contentsOf: rest)
        }
        if !pending.isEmpty { pending.withUnsafeBytes(onLine) }
        close(descriptor)
        onEnd()
    }
}
