import RelayJournal

/// The domain's tables in the journal's file, version by version. A version that was released does not change any more:
/// what changes is a migration of its own, behind it.
enum RelocationSchema {
    static let name = "relocation"
    static let migrations = [
        Migration(
            "boxes and items",
            // The ids given last, in a table of their own: an id is not used again after its box or item is gone.
            """
            CREATE TABLE relocation_ids (
              kind TEXT PRIMARY KEY,
              last INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
            "INSERT INTO relocation_ids (kind, last) VALUES ('box', 0), ('item', 0)",
            """
            CREATE TABLE relocation_boxes (
              id INTEGER PRIMARY KEY,
              title TEXT NOT NULL,
              capacity INTEGER NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE relocation_items (
              id INTEGER PRIMARY KEY,
              title TEXT NOT NULL,
              box_id INTEGER NOT NULL REFERENCES relocation_boxes (id)
            ) STRICT
            """,
            // A box's items by rising id, and their number: the rowid is part of every index.
            "CREATE INDEX relocation_items_by_box ON relocation_items (box_id)"),
        Migration(
            "numbers of items",
            // How many items each box has, kept by triggers, whatever code writes; and the boxes with room by that
            // number, so that a new item finds its box by one look, however many there are.
            "ALTER TABLE relocation_boxes ADD COLUMN item_count INTEGER NOT NULL DEFAULT 0",
            """
            UPDATE relocation_boxes
            SET item_count = (SELECT count(*) FROM relocation_items WHERE box_id = relocation_boxes.id)
            """,
            "CREATE INDEX relocation_boxes_with_room ON relocation_boxes (item_count) WHERE item_count < capacity",
            """
            CREATE TRIGGER relocation_item_added AFTER INSERT ON relocation_items BEGIN
              UPDATE relocation_boxes SET item_count = item_count + 1 WHERE id = NEW.box_id;
            END
            """,
            """
            CREATE TRIGGER relocation_item_removed AFTER DELETE ON relocation_items BEGIN
              UPDATE relocation_boxes SET item_count = item_count - 1 WHERE id = OLD.box_id;
            END
            """,
            """
            CREATE TRIGGER relocation_item_moved AFTER UPDATE OF box_id ON relocation_items BEGIN
              UPDATE relocation_boxes SET item_count = item_count - 1 WHERE id = OLD.box_id;
              UPDATE relocation_boxes SET item_count = item_count + 1 WHERE id = NEW.box_id;
            END
            """),
    ]
}
