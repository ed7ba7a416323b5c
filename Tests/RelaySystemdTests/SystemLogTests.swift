import Foundation
import Glibc
import RelayTestKit
import Testing

@testable import RelayCore
@testable import RelayJournal
@testable import RelaySystemd

@Suite("Entries of systemd's log") struct SystemLogTests {
    private func texts(_ fields: [SystemLog.Field]) -> [String] { fields.map { "\($0.name)=\($0.value)" } }

    @Test("a notice has the fields that are known, and no others") func notices() {
        let subject = Notice.Subject(interface: "org.example.A1", peer: ":1.7", sequence: 9, code: .limitsExceeded)
        let whole = Notice(.limitsExceeded, .warning, "too much", of: subject, suppressed: 2)
        #expect(
            texts(SystemLog.fields(of: whole)) == [
                "MESSAGE=too much (and 2 more)", "PRIORITY=4", "MESSAGE_ID=2a48b0d59d804771bee9d4f187910091",
                "RELAY_KIND=LimitsExceeded", "RELAY_INTERFACE=org.example.A1", "RELAY_PEER=:1.7", "RELAY_SEQUENCE=9",
                "RELAY_CODE=LimitsExceeded", "RELAY_SUPPRESSED=2",
            ])
        let own = Notice(.init(rawValue: "Own"), .info, "hm")
        #expect(texts(SystemLog.fields(of: own)) == ["MESSAGE=hm", "PRIORITY=6", "RELAY_KIND=Own"])
        #expect(texts(SystemLog.fields(of: Notice(.storageFull, .error, ""))).contains("PRIORITY=3"))
    }
    @Test("a message has its priority, and a number if it has one") func messages() {
        #expect(texts(SystemLog.fields("a\nb", .debug, nil)) == ["MESSAGE=a\nb", "PRIORITY=7"])
        #expect(texts(SystemLog.fields("a", .info, .ready)).last == "MESSAGE_ID=\(SystemLog.MessageID.ready.rawValue)")
    }
    @Test("stderr is the log if device and inode are those of JOURNAL_STREAM") func stream() throws {
        let folder = try TestFolder()
        let descriptor = open(folder.path + "/stream", O_WRONLY | O_CREAT, 0o600)
        defer { close(descriptor) }
        var status = stat()
        #expect(fstat(descriptor, &status) == 0)
        #expect(SystemLog.isStream("\(status.st_dev):\(status.st_ino)", descriptor))
        for other in [nil, "", "1", "\(status.st_dev):\(status.st_ino + 1)", "\(status.st_dev + 1):\(status.st_ino)"] {
            #expect(!SystemLog.isStream(other, descriptor))
        }
        #expect(!SystemLog.isStream("\(status.st_dev):\(status.st_ino)", -1))
    }
    @Test("the catalog explains each number, once, and no others; systemd takes it") func catalog() async throws {
        let folder = try TestFolder()
        let source = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let place = folder.path + "/usr/lib/systemd/catalog"
        func run(_ program: String, _ arguments: String...) async throws -> [String] {
            let outcome = try await RunningProgram.run(program, arguments)
            #expect(outcome.code == 0, "\(outcome)")
            return outcome.output
        }
        _ = try await run("mkdir", "-p", place, folder.path + "/var/lib/systemd/catalog")
        _ = try await run("cp", "/\(source)/Packaging/catalog/eventrelay.catalog", place)
        _ = try await run("journalctl", "--root=\(folder.path)", "--update-catalog")
        let listed = try await run("journalctl", "--root=\(folder.path)", "--no-pager", "--list-catalog")
        let known =
            Array(SystemLog.MessageID.kinds.values) + [
                SystemLog.MessageID.ready.rawValue, SystemLog.MessageID.finished.rawValue,
            ]
        #expect(listed.map { String($0.prefix { $0 != " " }) }.sorted() == known.sorted())
        #expect(known.allSatisfy { $0.count == 32 && $0.allSatisfy { "0123456789abcdef".contains($0) } })
    }
    @Test("each kind that Relay reports has a number") func kinds() throws {
        // As the sources declare them: a further one is not forgotten.
        let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let declared = try ["RelayCore/Notices/Notice", "RelayJournal/Notice+Journal"].flatMap { file in
            let text = try String(contentsOfFile: "\(root)/Sources/\(file).swift", encoding: .utf8)
            return text.matches(of: /static let (\w+) = Self\(rawValue: "(\w+)"\)/).map { String($0.output.2) }
        }
        #expect(declared.contains(Notice.Kind.limitsExceeded.rawValue) && declared.contains("JournalCheck"))
        #expect(Set(declared) == Set(SystemLog.MessageID.kinds.keys) && Set(declared).count == declared.count)
        #expect(SystemLog.MessageID(Notice.Kind(rawValue: "Own")) == nil)
    }
}
