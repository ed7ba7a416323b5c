import BusProcess
import Glibc
import Testing

@testable import RelayCore

/// A parent to kill: a C program around the same spawn.c, built by the toolchain's clang, removed with this.
final class SpawnHelper {
    let path: String
    private let directory: String

    init(_ file: String = #filePath) async throws {
        var template = Array("/tmp/eventrelay-test-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        directory = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = "\(directory)/helper"
        let root = file.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let source = """
            #include "CRelayShims.h"
            #include <stdio.h>
            #include <unistd.h>
            int main(void) {
                char *argv[] = {"sleep", "1000", 0}, *envp[] = {0};
                printf("%d\\n", relay_spawn_bound("/bin/sleep", argv, envp, 0, 0, 0, 0));
                fflush(stdout);
                for (;;) pause();
            }
            """
        let program = "\(directory)/helper.c"
        let written = try #require(fopen(program, "w"))
        fputs(source, written)
        fclose(written)
        let shims = "\(root)/Sources/CRelayShims"
        let compiler = try ChildProcess(
            "clang", ["-I\(shims)/include", program, "\(shims)/spawn.c", "-o", path, "-lpthread"])
        try #require(await compiler.waitForExit() == .code(0))
    }
    deinit {
        for name in ["helper", "helper.c"] { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }
}
