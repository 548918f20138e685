-- Full-text search over the desk's files: what is searched is what stands there, from the same commit on.
-- It takes nothing but what every server has, no extension: a desk is one schema, and its user may own no more.

-- Words by their stem, none of them left out.
CREATE TEXT SEARCH DICTIONARY desk_stems (TEMPLATE = pg_catalog.snowball, Language = porter);
CREATE TEXT SEARCH CONFIGURATION desk_words (COPY = pg_catalog.simple);
ALTER TEXT SEARCH CONFIGURATION desk_words ALTER MAPPING REPLACE pg_catalog.simple WITH desk_stems;

-- A body as text, whatever its bytes are: a NUL, which no text may hold here, becomes a space.
CREATE FUNCTION body_text(body bytea) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    whole bytea := body;
BEGIN
    IF position('\x00'::bytea IN body) > 0 THEN
        -- Escaped, a NUL is \000 and a backslash is two of them.
        whole := decode(array_to_string(ARRAY(
            SELECT replace(part, '\000', ' ')
            FROM unnest(string_to_array(encode(body, 'escape'), '\\')) WITH ORDINALITY AS parts (part, n) ORDER BY n
        ), '\\'), 'escape');
    END IF;
    RETURN convert_from(whole, 'UTF8');
EXCEPTION WHEN character_not_in_repertoire THEN
    RETURN convert_from(whole, 'LATIN1');
END $$;

CREATE FUNCTION lower_case(body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower(body COLLATE "default") $$;

-- The letters and digits of a text; what is between them is one space.
CREATE FUNCTION spaced(body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(body COLLATE "default", '[^[:alnum:]]+', ' ', 'g')
$$;

CREATE FUNCTION without_accents(body text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN octet_length(body) = length(body) THEN body
        ELSE normalize(regexp_replace(normalize(body, NFD), '[\u0300-\u036f]+', '', 'g'), NFC) END
$$;

-- The stems of both; of a text with more of them than a value can hold, those of its beginning.
CREATE FUNCTION stemmed(path text, body text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE
SET client_min_messages = warning AS $$
DECLARE
    names tsvector := setweight(to_tsvector('desk_words', spaced(without_accents(path))), 'A');
    words text := spaced(without_accents(body));
BEGIN
    LOOP
        BEGIN
            RETURN names || to_tsvector('desk_words', words);
        EXCEPTION WHEN program_limit_exceeded THEN
            words := left(words, length(words) / 2);
        END;
    END LOOP;
END $$;

-- All three letters that stand side by side in a word, each once.
CREATE FUNCTION trigrams(body text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    letters text[] := string_to_array((
        SELECT string_agg(DISTINCT word, ' ') FROM unnest(string_to_array(spaced(body), ' ')) AS word
        WHERE length(word) >= 3), NULL);
BEGIN
    RETURN ARRAY(SELECT DISTINCT (a || b || c) COLLATE "C"
        FROM unnest(letters, letters[2:], letters[3:]) AS threes (a, b, c) WHERE a <> ' ' AND b <> ' ' AND c <> ' ');
END $$;

-- What the index has to hold: of the files that are there, folders apart, the path and the content.
CREATE VIEW desk_texts_now AS
SELECT f.desk_id, f.id AS file_id, f.path, f.content_hash, t.path || E'\n' || t.body AS folded,
       stemmed(t.path, t.body) AS words, trigrams(t.path || ' ' || t.body) AS trigrams
FROM desk_files AS f JOIN blobs AS b ON b.hash = f.content_hash
CROSS JOIN LATERAL (SELECT lower_case(f.path) AS path, lower_case(body_text(b.bytes)) AS body OFFSET 0) AS t
WHERE f.deleted = 0 AND f.kind <> 'folder';

CREATE TABLE desk_texts (
    desk_id      TEXT COLLATE "C" NOT NULL,
    file_id      TEXT COLLATE "C" NOT NULL,
    path         TEXT COLLATE "C" NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    folded       TEXT COLLATE "C" NOT NULL,
    words        TSVECTOR NOT NULL,
    trigrams     TEXT[] COLLATE "C" NOT NULL,
    PRIMARY KEY (desk_id, file_id)
);
CREATE INDEX desk_texts_by_word ON desk_texts USING gin (words);
CREATE INDEX desk_texts_by_trigram ON desk_texts USING gin (trigrams);

CREATE FUNCTION index_desk_file() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    of_desk text := coalesce(NEW.desk_id, OLD.desk_id);
    of_file text := coalesce(NEW.id, OLD.id);
BEGIN
    DELETE FROM desk_texts AS t WHERE t.desk_id = of_desk AND t.file_id = of_file AND NOT EXISTS (
        SELECT FROM desk_files AS f WHERE f.desk_id = of_desk AND f.id = of_file AND f.deleted = 0
            AND f.kind <> 'folder' AND f.path = t.path AND f.content_hash = t.content_hash);
    INSERT INTO desk_texts SELECT * FROM desk_texts_now AS now WHERE now.desk_id = of_desk AND now.file_id = of_file
        AND NOT EXISTS (SELECT FROM desk_texts AS t WHERE t.desk_id = of_desk AND t.file_id = of_file);
    RETURN NULL;
END $$;

-- At the end of the transaction, when the bodies are there whatever wrote them, and once for all changes of a file.
CREATE CONSTRAINT TRIGGER desk_files_are_indexed AFTER INSERT OR UPDATE OR DELETE ON desk_files
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION index_desk_file();

INSERT INTO desk_texts SELECT * FROM desk_texts_now;
