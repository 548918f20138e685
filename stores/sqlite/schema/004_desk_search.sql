-- Full-text search over the desk's files: what is searched is what stands there, from the same commit on.

-- The files that are there, folders apart, each with a number for the indexes that stays the same.
CREATE TABLE desk_texts (
    number       INTEGER PRIMARY KEY,
    desk_id      TEXT NOT NULL,
    file_id      TEXT NOT NULL,
    path         TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    UNIQUE (desk_id, file_id)
) STRICT;

-- The indexes hold no text; they read it here.
CREATE VIEW desk_bodies_as_text AS
SELECT t.number, t.path, CAST(b.bytes AS TEXT) AS body FROM desk_texts t JOIN blobs b ON b.hash = t.content_hash;

CREATE VIRTUAL TABLE desk_words USING fts5(path, body,
    content = 'desk_bodies_as_text', content_rowid = 'number', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE desk_trigrams USING fts5(path, body,
    content = 'desk_bodies_as_text', content_rowid = 'number', tokenize = 'trigram');

CREATE TRIGGER desk_texts_come AFTER INSERT ON desk_texts
BEGIN
    INSERT INTO desk_words (rowid, path, body)
        SELECT number, path, body FROM desk_bodies_as_text WHERE number = NEW.number;
    INSERT INTO desk_trigrams (rowid, path, body)
        SELECT number, path, body FROM desk_bodies_as_text WHERE number = NEW.number;
END;
-- An entry is removed by the text that it was made of.
CREATE TRIGGER desk_texts_go BEFORE DELETE ON desk_texts
BEGIN
    INSERT INTO desk_words (desk_words, rowid, path, body)
        SELECT 'delete', number, path, body FROM desk_bodies_as_text WHERE number = OLD.number;
    INSERT INTO desk_trigrams (desk_trigrams, rowid, path, body)
        SELECT 'delete', number, path, body FROM desk_bodies_as_text WHERE number = OLD.number;
END;
CREATE TRIGGER desk_texts_stay BEFORE UPDATE ON desk_texts
BEGIN SELECT RAISE(ABORT, 'what is indexed is replaced, never changed'); END;

CREATE TRIGGER desk_files_come AFTER INSERT ON desk_files WHEN NEW.deleted = 0 AND NEW.kind <> 'folder'
BEGIN
    DELETE FROM desk_texts WHERE desk_id = NEW.desk_id AND file_id = NEW.id;
    INSERT INTO desk_texts (desk_id, file_id, path, content_hash)
        SELECT NEW.desk_id, NEW.id, NEW.path, hash FROM blobs WHERE hash = NEW.content_hash;
END;
CREATE TRIGGER desk_files_change AFTER UPDATE ON desk_files
WHEN OLD.path <> NEW.path OR OLD.content_hash <> NEW.content_hash OR OLD.deleted <> NEW.deleted
BEGIN
    DELETE FROM desk_texts WHERE desk_id = OLD.desk_id AND file_id = OLD.id;
    INSERT INTO desk_texts (desk_id, file_id, path, content_hash)
        SELECT NEW.desk_id, NEW.id, NEW.path, hash FROM blobs
        WHERE hash = NEW.content_hash AND NEW.deleted = 0 AND NEW.kind <> 'folder';
END;
CREATE TRIGGER desk_files_go AFTER DELETE ON desk_files
BEGIN DELETE FROM desk_texts WHERE desk_id = OLD.desk_id AND file_id = OLD.id; END;

INSERT INTO desk_texts (desk_id, file_id, path, content_hash)
SELECT f.desk_id, f.id, f.path, f.content_hash FROM desk_files f JOIN blobs b ON b.hash = f.content_hash
WHERE f.deleted = 0 AND f.kind <> 'folder';
