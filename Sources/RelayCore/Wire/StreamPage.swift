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

    /// One event of a page: where it is in the answer's body.
    package struct Event: Hashable, Sendable {
        package let name: String
        package let schema: UInt32
        package let signature: String
        /// A signal's whole body, fields and stamp, aligned as one.
        package let body: Range<Int>
    }
}
