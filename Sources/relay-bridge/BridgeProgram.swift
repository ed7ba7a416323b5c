import Glibc
import RelayCore
import RelayDaemon
import RelayTool

/// Exports services to other hosts, and mirrors theirs.
@main struct BridgeProgram: RelayProgram {
    static func run() async throws {
        let arguments: [String]
        do throws(UsageError) { arguments = try ProcessInput.arguments() } catch {
            throw ServiceFailure(code: .usage, message: error.message)
        }
        let program = BridgeOptions.program
        switch try BridgeOptions.parse(arguments, machine: machine) {
        case .help: try StandardOutput.write(HelpPage.text(of: nil, in: program))
        case .manual: try StandardOutput.write(ManualPage.text(of: nil, in: program, section: 8))
        case .version: try StandardOutput.write(HelpPage.version(of: program))
        case .checked(let text): try StandardOutput.write(text)
        case .run(let options):
            if let policy = options.policy {
                return try StandardOutput.write(
                    MirrorName.policy(for: policy.user, group: policy.group, mirrors: options.mirrors))
            }
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
