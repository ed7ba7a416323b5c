public import RelayEvents

/// Where canvases are written: a disk, or what a test puts in its place.
public protocol CanvasFiles: Sendable {
    /// Throws why it cannot be written, for people.
    func write(_ text: String, to file: String) throws
}

/// Saves canvases off the main actor, and publishes what came of it. It knows no window.
public actor CanvasSaver {
    private let files: any CanvasFiles
    private let publisher: EventPublisher

    public init(files: any CanvasFiles, publisher: EventPublisher) { (self.files, self.publisher) = (files, publisher) }

    public func save(_ canvas: Canvas, as file: String) {
        do {
            try files.write(canvas.strokes.joined(separator: "\n"), to: file)
            publisher.publish(CanvasSaved(canvas: canvas.id, file: file))
        } catch {
            publisher.publish(SavingCanvasFailed(canvas: canvas.id, file: file, reason: "\(error)"))
        }
    }
}
