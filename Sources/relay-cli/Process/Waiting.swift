import Dispatch
import RelayTool
import Synchronization
/// For a program whose main thread has nothing else to do.
enum Waiting {
    /// The result of an asynchronous body, waited for on this thread.
    static func result<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws(CLIFailure)
        -> Value
    {
        let box = Box<Value>()
        let done = DispatchSemaphore(value: 0)
        Task {
            let result: Result<Value, CLIFailure>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(CLIFailure(ofCall: error))
            }
            box.result.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = box.result.withLock({ $0 }) else { throw CLIFailure(.software, "no result") }
        return try result.get()
    }

    private final class Box<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, CLIFailure>?>(nil)
    }
}
