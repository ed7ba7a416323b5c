import Glibc
import RelayCore
import RelayTestKit
import TestTraits
import Testing

@testable import RelayJournal

/// Whatever program opens a journal: a service manager acts on the code alone.
@Suite("Exit codes of a journal that cannot be opened", .heavy, .tags(.g8)) struct ExitCodeTests {
    private func code(_ directory: String) -> Int32? {
        (#expect(throws: RelayError.self) { _ = try EventJournal(directory: directory) })?.exitCode
    }
    @Test("73 for a place that cannot be used, 75 while another has it, 65 for what is in the file") func codes()
        async throws
    {
        let folder = try TestFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        #expect(code(folder.path) == 73)
        #expect(chmod(folder.path, 0o700) == 0)
        try folder.write("", to: "file")
        #expect(code(folder.path + "/file") == 73)
        #expect(code(folder.path + "/file/below") == 73)
        let journal = try EventJournal(directory: folder.path)
        #expect(code(folder.path) == 75)
        journal.close()
        let copy = try await JournalCopy.ended()
        try copy.edit("DELETE FROM relay_names")
        #expect(code(copy.directory.path) == 65)
        let other = try TestFolder()
        try other.write(String(repeating: "no database ", count: 100), to: "journal.sqlite")
        #expect(code(other.path) == 65)
    }
}
