import RelayCore
import RelayDaemon
import RelayJournal
import RelayTool

extension ServiceFailure {
    /// What stopped the journal while it was used: what is in it, which only an administrator can mend, or the disk.
    init(using error: RelayError) {
        self.init(code: UnfitJournal.explains(error) ? .badValue : .outputFailed, message: error.message)
    }
}
