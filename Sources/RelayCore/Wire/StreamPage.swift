/// What `Read` answers, but for its events: they are looked at where they are.
package struct StreamPage: Hashable, Sendable {
    package var epoch: UInt64
    package var oldest: UInt64
    package var through: UInt64
    package var head: UInt64
    package var token: UInt64

    package init(epoch: UInt64, oldest: UInt64, through: UInt64, head: UInt64, token: UInt64) {
        (self.epoch, self.oldest, self.through) = (epoch, oldest, through)
        (self.head, self.token) = (head, token)
    }

    /// One event of a page: where it is in the answer's body. Valid as long as that.
    package struct Event {
        /// UTF-8, checked.
        let nameBytes: UnsafeRawBufferPointer
        package let schema: UInt32
        /// As a signal has it: without the parentheses of the structure that travels.
        let signatureBytes: UnsafeRawBufferPointer
        /// Where that starts in the answer's body.
        let signatureStart: Int
        /// A signal's whole body, fields and stamp, aligned as one.
        package let body: Range<Int>

        package var name: String { String(decoding: nameBytes, as: UTF8.self) }
        package var signature: String { String(decoding: signatureBytes, as: UTF8.self) }
    }
}
