import Glibc
import RelayCore
import RelayDaemon
import RelayTool

/// Exports services to other hosts, and mirrors theirs.
@main struct RelayBridge: RelayProgram {
    static func run() async throws {
        let action: BridgeOptions.Action
        do throws(UsageError) {
            action = try BridgeOptions.parse(try ProcessInput.arguments(), machine: machine)
        } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        switch action {
        case .print(let text): try StandardOutput.write(text)
        case .run(let options):
            do { try await BridgeRunner(options, ProcessInput.environment).run() } catch let failure as ServiceFailure {
                throw failure
            } catch {
                if Task.isCancelled { return }
                throw ServiceFailure(error)
            }
        }
    }
    /// This machine's name; empty: it has none.
    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
