import TestTraits
import Testing

@testable import RelayCore

/// A query whose pages never end by themselves.
private struct ListPages: PagedQuery {
    typealias Interface = Orders1
    struct Reply: SnapshotReply {
        let epoch: UInt64, sequence: UInt64
        let number: Int
        let isLast: Bool
    }
    var number = 0
    func next(after page: Reply) -> Self? { page.isLast ? nil : Self(number: page.number + 1) }
}

@Suite("A state in pages", .computing, .tags(.g1)) struct PagedQueryTests {
    /// Asks for all pages; how often it asked, and how it ended.
    private func ask(
        _ answer: (Int) -> ListPages.Reply
    ) async -> (asked: Int, result: Result<[ListPages.Reply], any Error>) {
        var asked = 0
        do {
            let pages = try await allPages(of: ListPages()) { query in
                asked += 1
                return answer(query.number)
            }
            return (asked, .success(pages))
        } catch { return (asked, .failure(error)) }
    }

    @Test("all pages come in order, up to the last") func order() async throws {
        let (asked, result) = await ask { ListPages.Reply(epoch: 7, sequence: 3, number: $0, isLast: $0 == 4) }
        #expect(asked == 5)
        #expect(try result.get().map(\.number) == [0, 1, 2, 3, 4])
    }
    @Test("pages without end are an error after so many") func endless() async {
        let (asked, result) = await ask { ListPages.Reply(epoch: 7, sequence: 3, number: $0, isLast: false) }
        #expect(asked == mostPages)
        #expect {
            _ = try result.get()
        } throws: { error in
            (error as? RelayError)?.code == .tooLarge && "\(error)".contains("more than 65536 pages")
        }
    }
    @Test("as many pages as may be are no error") func most() async throws {
        let (_, result) = await ask {
            ListPages.Reply(epoch: 7, sequence: 3, number: $0, isLast: $0 == mostPages - 1)
        }
        #expect(try result.get().count == mostPages)
    }
    @Test("pages of two runs are no state") func restart() async {
        let (asked, result) = await ask {
            ListPages.Reply(epoch: $0 < 2 ? 7 : 8, sequence: 3, number: $0, isLast: $0 == 4)
        }
        #expect(asked == 3)
        #expect { _ = try result.get() } throws: { ($0 as? RelayError)?.code == .unavailable }
    }
}
