import BusProcess
import Glibc
import RelayTestKit

@testable import RelayCore

/// A bus's socket at which nobody accepts, and whose backlog is full: connecting to it waits.
final class FullSocket {
    private let folder: TestFolder
    private var listener: Int32
    private var waiting: [Int32] = []
    private var accepted: [Int32] = []

    init() throws {
        folder = try TestFolder()
        let path = folder.path + "/bus"
        guard let listener = UnixSocket.listening(at: path, backlog: 0) else { throw SystemError(errno) }
        self.listener = listener
        while let descriptor = UnixSocket.connected(to: path, isBlocking: false) { waiting.append(descriptor) }
        // Another reason, and it is not full.
        if errno != EAGAIN { throw SystemError(errno) }
    }
    deinit {
        close()
        for descriptor in waiting + accepted { Glibc.close(descriptor) }
    }
    var path: String { folder.path + "/bus" }
    var bus: Bus { .address("unix:path=\(path)") }

    /// Those who wait to be accepted are refused.
    func close() {
        if listener >= 0 { Glibc.close(listener) }
        listener = -1
    }
    /// Accepts those who wait. Returns how many of those accepted so far have hung up.
    func accept() -> Int {
        while true {
            let descriptor = Glibc.accept(listener, nil, nil)
            if descriptor < 0 { break }
            accepted.append(descriptor)
        }
        return accepted.filter { descriptor in
            var bytes = [UInt8](repeating: 0, count: 256)
            var count = 0
            repeat { count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) } while count > 0
            return count == 0
        }.count
    }
}
