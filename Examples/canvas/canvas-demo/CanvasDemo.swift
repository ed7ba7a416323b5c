import Canvases
import Glibc
import RelayEvents

/// Files of a disk.
struct DiskFiles: CanvasFiles {
    struct Failure: Error, CustomStringConvertible { let description: String }
    let folder: String

    func write(_ text: String, to file: String) throws {
        guard let stream = fopen("\(folder)/\(file)", "w") else {
            throw Failure(description: String(cString: strerror(errno)))
        }
        let isWritten = fputs(text, stream) >= 0
        guard fclose(stream) == 0, isWritten else { throw Failure(description: String(cString: strerror(errno))) }
    }
}

/// Two windows share one publisher. The second one names a folder that is not there, and then another file.
@main struct CanvasDemo {
    @MainActor static func main() async {
        guard CommandLine.arguments.count == 2 else {
            _ = "usage: canvas-demo FOLDER\n".withCString { write(2, $0, strlen($0)) }
            exit(64)
        }
        let publisher = EventPublisher()
        let saver = CanvasSaver(files: DiskFiles(folder: CommandLine.arguments[1]), publisher: publisher)
        let kitchen = CanvasWindow(Canvas(number: 1, title: "Kitchen"), saver: saver, publisher: publisher) { _ in nil }
        let garden = CanvasWindow(Canvas(number: 2, title: "Garden"), saver: saver, publisher: publisher) { _ in
            "garden.canvas"
        }
        kitchen.draw("a table")
        garden.draw("a tree")
        kitchen.save(as: "kitchen.canvas")
        garden.save(as: "plans/garden.canvas")
        while kitchen.savedFile == nil || garden.savedFile == nil { await Task.yield() }
        for window in [kitchen, garden] {
            for line in window.lines { print("\(window.canvas.title): \(line)") }
        }
    }
}
